package config

import (
	"github.com/bailiff-dev/bailiff/backends/settings"
)

// mcp reads whose requests come in by the Model Context Protocol.
func (r *reader) mcp(at place) *MCP {
	var m MCP
	before := len(r.faults)
	r.section(at, fields{
		"platform":               as(&m.Session.Platform, r.platform),
		"user":                   as(&m.Session.UserID, r.id),
		"chat":                   as(&m.Session.ChatID, r.id),
		"chat_type":              r.oneOf(&m.Session.ChatType, "chat_type", "dm", "group", "channel", "thread"),
		"thread":                 as(&m.Session.ThreadID, r.id),
		"session":                as(&m.Session.ID, r.id),
		"unattended":             r.boolean(&m.Session.Unattended),
		"env":                    r.each(&m.Env, r.variable),
		"wait_seconds":           r.number(&m.WaitSeconds, 1, 24*60*60),
		"client_timeout_seconds": r.number(&m.ClientTimeoutSeconds, 15, 24*60*60),
	})
	switch {
	case len(r.faults) > before:
	case m.ClientTimeoutSeconds > 0 && m.WaitSeconds >= m.ClientTimeoutSeconds:
		r.fault(at, "wait_seconds is %d, want less than client_timeout_seconds, after whose %d seconds clients give the call up",
			m.WaitSeconds, m.ClientTimeoutSeconds)
	case m.Session.Platform == "" || m.Session.Platform == "*":
		r.fault(at, `platform is missing: it says as whose requests calls are judged, such as "cli"`)
	case m.Session.UserID == "":
		r.fault(at, "user is missing: it says as whose requests calls are judged")
	}
	return &m
}

// longestID is what ids and names of variables may have in a request.
const longestID = 256

func (r *reader) id(at place) (string, bool) {
	s, ok := r.text(at)
	if ok && len(s) > longestID {
		r.fault(at, "is longer than the %d bytes that an id may have", longestID)
		return "", false
	}
	return s, ok
}

func (r *reader) variable(at place) (string, bool) {
	return r.readChecked(settings.Setting{Check: isVariable}, at)
}
