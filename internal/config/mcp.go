package config

import (
	"github.com/bailiff-dev/bailiff/backends/settings"
)

// mcp reads whose requests come in by the Model Context Protocol.
func (r *reader) mcp(at place) *MCP {
	var m MCP
	before := len(r.faults)
	r.section(at, fields{
		"platform":     func(at place) { m.Session.Platform, _ = r.platform(at) },
		"user":         r.id(&m.Session.UserID),
		"chat":         r.id(&m.Session.ChatID),
		"chat_type":    r.oneOf(&m.Session.ChatType, "chat_type", "dm", "group", "channel", "thread"),
		"thread":       r.id(&m.Session.ThreadID),
		"session":      r.id(&m.Session.ID),
		"unattended":   r.boolean(&m.Session.Unattended),
		"env":          r.each(&m.Env, r.variable),
		"wait_seconds": r.number(&m.WaitSeconds, 1, 24*60*60),
	})
	switch {
	case len(r.faults) > before:
	case m.Session.Platform == "" || m.Session.Platform == "*":
		r.fault(at, `platform is missing: it says as whose requests calls are judged, such as "cli"`)
	case m.Session.UserID == "":
		r.fault(at, "user is missing: it says as whose requests calls are judged")
	}
	return &m
}

// longestID is what ids and names of variables may have in a request.
const longestID = 256

func (r *reader) id(into *string) func(place) {
	return func(at place) {
		s, ok := r.text(at)
		if ok && len(s) > longestID {
			r.fault(at, "is longer than the %d bytes that an id may have", longestID)
			return
		}
		*into = s
	}
}

func (r *reader) variable(at place) (string, bool) {
	return r.checked(settings.Setting{Check: isVariable}, at)
}
