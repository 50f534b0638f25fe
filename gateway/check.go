package gateway

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// What a request may hold at most.
const (
	longestID      = 128
	longestSession = 512
	longestName    = 256
	mostVariables  = 100
	longestWait    = 24 * 60 * 60 // seconds
)

var (
	chatTypes = []string{"", "dm", "group", "channel", "thread"}
	actions   = []string{"list", "poll", "wait", "log", "kill", "write", "submit", "close"}
)

// checker collects what is wrong with a request.
type checker struct{ faults []api.Fault }

func (c *checker) fault(at, format string, values ...any) {
	c.faults = append(c.faults, api.Fault{At: at, Message: fmt.Sprintf(format, values...)})
}

// check looks at what types cannot say.
func check(req *bailiff.Request) []api.Fault {
	var c checker
	c.short("/request_id", req.ID, longestID)
	c.args(req.Tool, &req.Args)
	c.session(&req.Session)
	c.ownChat(&req.Session)
	c.env(req.Env)
	c.short("/backend", req.Backend, longestName)
	c.seconds("/wait_seconds", req.WaitSeconds)
	return c.faults
}

func (c *checker) session(s *bailiff.Session) {
	if s.ID == "" {
		c.fault("/session/id", "is missing")
	}
	if s.Platform == "" {
		c.fault("/session/platform", "is missing")
	}
	if !slices.Contains(chatTypes, s.ChatType) {
		c.fault("/session/chat_type", "want dm, group, channel or thread, is %q", cut(s.ChatType))
	}
	c.short("/session/id", s.ID, longestSession)
	c.short("/session/platform", s.Platform, longestName)
	c.short("/session/chat_id", s.ChatID, longestName)
	c.short("/session/thread_id", s.ThreadID, longestName)
	c.short("/session/user_id", s.UserID, longestName)
	c.short("/session/user_name", s.UserName, longestName)
	c.short("/session/profile", s.Profile, longestName)
	c.short("/session/job", s.Job, longestName)
	if s.Agent.IsSub() {
		c.subAgent(s.Agent)
	}
}

// subAgent checks one that another started; the session's own is not named.
func (c *checker) subAgent(a bailiff.Agent) {
	if a.ID == "" {
		c.fault("/session/agent/id", "is missing; a request of the session's own agent has no agent at all")
	}
	c.short("/session/agent/id", a.ID, longestName)
	c.short("/session/agent/parent", a.Parent, longestName)
	switch {
	case a.Depth < 1 || a.Depth > bailiff.MaxAgentDepth:
		c.fault("/session/agent/depth", "want 1 (the session's own agent started it) to %d, is %d", bailiff.MaxAgentDepth, a.Depth)
	case a.Depth == 1 && a.Parent != "":
		c.fault("/session/agent/parent", "belongs to a depth of 2 and more: at depth 1 the parent is the session's own agent, "+
			"which has no id")
	case a.Depth > 1 && a.Parent == "":
		c.fault("/session/agent/parent", "is missing: an agent of depth %d was started by another that has an id", a.Depth)
	case a.ID != "" && a.Parent == a.ID:
		c.fault("/session/agent/parent", "is the agent itself, want the one that started it")
	}
}

func (c *checker) args(tool bailiff.Tool, a *bailiff.Args) {
	switch tool {
	case bailiff.Terminal:
		c.text("/args/command", a.Command)
		c.workdir(a.Workdir)
	case bailiff.ExecuteCode:
		c.text("/args/code", a.Code)
	case bailiff.Process:
		c.process(a)
	case bailiff.MCP:
		c.mcp(a)
	case "":
		c.fault("/tool", "is missing")
	default:
		c.fault("/tool", "want terminal, execute_code or process, is %q", cut(string(tool)))
	}
	c.seconds("/args/timeout", a.Timeout)
}

// text checks what an interpreter will read.
func (c *checker) text(at, s string) {
	if s == "" {
		c.fault(at, "is missing")
	}
	c.noNUL(at, s)
}

func (c *checker) workdir(dir string) {
	if dir != "" && !path.IsAbs(dir) {
		c.fault("/args/workdir", "want an absolute path, is %q", cut(dir))
	}
	c.short("/args/workdir", dir, bailiff.MaxWorkdir)
}

func (c *checker) process(a *bailiff.Args) {
	switch {
	case a.Action == "":
		c.fault("/args/action", "is missing")
	case !slices.Contains(actions, a.Action):
		c.fault("/args/action", "want %s, is %q", strings.Join(actions, ", "), cut(a.Action))
	case a.Action != "list" && a.ProcessID == "":
		c.fault("/args/process_id", "is missing: %s needs to know of which process", a.Action)
	case a.Action == "list" && a.ProcessID != "":
		c.fault("/args/process_id", "does not belong to list, which names all processes of the session; use poll, wait or log for one")
	case a.Action == "write" && a.Data == "":
		c.fault("/args/data", "is missing: write needs something to write, and submit without data is a line's end")
	case a.Action != "write" && a.Action != "submit" && a.Data != "":
		c.fault("/args/data", "belongs to write and submit, not to %s", a.Action)
	}
	c.short("/args/process_id", a.ProcessID, longestName)
}

func (c *checker) env(names []string) {
	if len(names) > mostVariables {
		c.fault("/env", "names %d variables, want at most %d", len(names), mostVariables)
		return
	}
	for i, name := range names {
		if !bailiff.IsVariable(name) || len(name) > longestName {
			c.fault("/env/"+strconv.Itoa(i), "want a variable's name (letters, digits and _, no digit first), is %q", cut(name))
		}
	}
}

func (c *checker) seconds(at string, n int) {
	if n < 0 || n > longestWait {
		c.fault(at, "want 0 to %d seconds, is %d", longestWait, n)
	}
}

func (c *checker) short(at, s string, longest int) {
	if len(s) > longest {
		c.fault(at, "is %d bytes long, want at most %d", len(s), longest)
	}
	c.noNUL(at, s)
}

func (c *checker) noNUL(at, s string) {
	if strings.IndexByte(s, 0) >= 0 {
		c.fault(at, "holds a NUL byte")
	}
}

// cut keeps what is quoted from a request short.
func cut(s string) string {
	if len(s) > 40 {
		return bailiff.Beginning(s, 40) + "…"
	}
	return s
}
