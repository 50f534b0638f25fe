package setup

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/host/defaultpath"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// agent is one program whose settings can have it ask.
type agent interface {
	// settings are the paths of the user's files that are written.
	settings(e Entry) []string
	// add has the agent ask, remove has it ask no longer.
	add(e Entry) ([]Change, error)
	remove(e Entry) ([]Change, error)
}

// hooked is an agent that has hooks.
type hooked interface {
	// written are those of bailiff in the files that the agent reads, in the order in which they
	// hold; hooks says of each whether the agent calls it, too.
	written(e Entry) ([]Hook, error)
	hooks(ctx context.Context, e Entry) ([]Hook, error)
	// managed are the lines by which root has every user's agent ask.
	managed(e Entry) []string
}

// served is an agent that has bailiff's tools by MCP.
type served interface{ server(e Entry) (Server, error) }

// trusting is an agent that calls a hook only if its user said that it may.
type trusting interface {
	trust(ctx context.Context, e Entry) error
}

// advised is an agent with which something is left to do, or to know.
type advised interface{ advice(e Entry) []string }

var agents = map[string]agent{
	"claude-code": newClaude(),
	"codex":       newCodex(),
	"hermes":      hermes{},
	"opencode":    opencode{},
}

// agentOf is the agent of a name; nil if there is none.
func agentOf(name string) agent {
	if client, ok := strings.CutPrefix(name, "mcp:"); ok && client != "" {
		return anyMCP{client}
	}
	return agents[name]
}

// Agents are the names of those that can be set up.
func Agents() string { return strings.Join(append(slices.Sorted(maps.Keys(agents)), "mcp:NAME"), ", ") }

// Hook is one of bailiff's hooks in the settings that an agent reads.
type Hook struct {
	// Path is the file, Lock says whose it is.
	Path, Lock string
	// Line is the command line, Tools what it is called for, Limit after how many seconds the
	// agent runs the tool without its answer.
	Line, Tools string
	Limit       int
	// Off says why the agent does not call it; empty if it does. Doubt says when it may not.
	Off, Doubt string
}

// Hooks are the hooks in the settings of an agent; has is false for one that has no hooks.
func Hooks(ctx context.Context, name string, e Entry) (all []Hook, has bool, err error) {
	a := agentOf(name)
	if a == nil {
		return nil, false, unknownAgent(name)
	}
	h, has := a.(hooked)
	if !has {
		return nil, false, nil
	}
	all, err = h.hooks(ctx, e)
	return all, true, err
}

// Server is a server of bailiff's tools in the settings of an agent.
type Server struct {
	// Path is the file, Command what the agent starts.
	Path    string
	Command []string
	// Off says why the agent does not start it; empty if it does.
	Off string
}

// Tools is the server of tools that an agent has; has is false for one that has none.
func Tools(name string, e Entry) (s Server, has bool, err error) {
	a := agentOf(name)
	if a == nil {
		return Server{}, false, unknownAgent(name)
	}
	h, has := a.(served)
	if !has {
		return Server{}, false, nil
	}
	s, err = h.server(e)
	return s, true, err
}

// Lacking are the files in which an agent's entries are missing, or name another sidecar.
func Lacking(name string, e Entry) (paths []string, err error) {
	a := agentOf(name)
	if a == nil {
		return nil, unknownAgent(name)
	}
	changes, err := a.add(e)
	for _, c := range changes {
		if !c.isNone() {
			paths = append(paths, c.Path)
		}
	}
	return paths, err
}

func unknownAgent(name string) error {
	return fmt.Errorf("no agent is called %q; there are %s", name, Agents())
}

// Unfit says which hooks in the settings of the user's agents would let tools run unjudged. No
// agent is started.
func Unfit(e Entry) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		h, has := agents[name].(hooked)
		if !has {
			continue
		}
		written, err := h.written(e)
		if err != nil {
			all = append(all, fmt.Sprintf("the hooks of %s were not looked at: %v", name, err))
		}
		for _, h := range written {
			if what, do := h.Fault(); h.Off == "" && what != "" {
				all = append(all, fmt.Sprintf("the hook in %s: %s %s", h.Path, what, do))
			}
		}
	}
	return all
}

// Fault says why the agent would run tools unjudged although it has the hook, and what would mend
// that; both are empty where it would not.
func (h Hook) Fault() (what, do string) {
	switch limit, known := h.killedAfter(); {
	case h.Tools != "" && h.Tools != "*" && h.Tools != ".*":
		return fmt.Sprintf("It is called for %q only; every other tool runs unjudged.", h.Tools), `Set "matcher" to "*".`
	case !h.isGuarded() || !known:
		return "Where the hook is missing, killed or stuck, the agent runs the tool.", "Set the whole line that bailiff setup writes."
	case limit >= h.Limit:
		return fmt.Sprintf("The agent runs the tool after %d s without an answer, and the hook may take %d s.", h.Limit, limit),
			`Set "timeout" to 60.`
	}
	return "", ""
}

var timeoutWord = regexp.MustCompile(`^/usr/bin/timeout -s KILL (\d+) `)

// killedAfter is after how many seconds the hook ends at the latest.
func (h Hook) killedAfter() (seconds int, known bool) {
	found := timeoutWord.FindStringSubmatch(h.Line)
	if found == nil {
		return 0, false
	}
	seconds, err := strconv.Atoi(found[1])
	return seconds, err == nil
}

// isGuarded says whether the line refuses the tool where the hook is missing, killed or stuck.
func (h Hook) isGuarded() bool {
	return strings.HasSuffix(h.Line, guard) && strings.HasPrefix(h.Line, "/usr/bin/timeout ")
}

// Entry is what an agent's settings have to say.
type Entry struct {
	// Listen is the address of the sidecar.
	Listen string
	// Programs is the folder of bailiff and bailiff-hook, Home that of the user.
	Programs, Home string
	// Getenv reads the variables by which agents find their settings.
	Getenv func(name string) string
	// undone are the texts that files have once what was written is taken back.
	undone map[string]string
}

// open is a change of one of the agent's files: of its text, or of what that is once it is taken back.
func (e Entry) open(path, why string, mode os.FileMode) (Change, error) {
	c, err := readFile(path, why, mode)
	if text, has := e.undone[c.Path]; has {
		c.After = text
	}
	return c, err
}

// Entry is the one of the agent that is set up.
func (s *Survey) Entry() Entry {
	return Entry{Listen: s.address(), Programs: s.in.Programs, Home: s.in.Home, Getenv: s.in.Getenv}
}

// Managed are the lines by which root has every user's agent ask, each at a sidecar of its
// own or at this one.
func (s *Survey) Managed() ([]string, error) {
	h, has := s.agent.(hooked)
	if !has {
		return nil, fmt.Errorf("%s reads no hooks of root's: leave --managed out", s.in.Agent)
	}
	return h.managed(s.Entry()), nil
}

// Trust has the agent call the hooks that were written, where it asks its user first.
func (s *Survey) Trust(ctx context.Context) error {
	if a, ok := s.agent.(trusting); ok {
		return s.recordTrust(func() error { return a.trust(ctx, s.Entry()) })
	}
	return nil
}

// Advice is what is left to do or to know.
func (s *Survey) Advice() []string {
	lines := s.authorAdvice()
	if a, ok := s.agent.(advised); ok {
		lines = append(lines, a.advice(s.Entry())...)
	}
	return lines
}

// guard stands behind a hook: each end but an answer refuses.
const guard = ` || { [ $? -eq 2 ] || echo 'bailiff-hook failed, so nothing runs' >&2; exit 2; }`

// guardAfter stands behind a hook that looks again: its failure is told.
const guardAfter = " || exit 2"

// hook is the command line by which an agent has each of its tools judged.
func (e Entry) hook(client string) string { return e.hooked(client) + guard }

// hookAfter is the line by which it has files looked at again.
func (e Entry) hookAfter(client string) string { return e.hooked(client) + guardAfter }

func (e Entry) hooked(client string) string {
	return shellquote.Join("/usr/bin/timeout", "-s", "KILL", "55", e.Programs+"/bailiff-hook", client, "--listen", e.Listen)
}

// isHook says whether a command line of settings starts the hook of a client.
func isHook(line, client string) bool {
	for _, part := range strings.Split(line, "||") {
		words := strings.Fields(part)
		for i := range words[:max(0, len(words)-1)] {
			name := strings.Trim(words[i], `'"`)
			if (name == "bailiff-hook" || strings.HasSuffix(name, "/bailiff-hook")) && words[i+1] == client {
				return true
			}
		}
	}
	return false
}

// asks says whether a hook that is there, perhaps with flags that its user added, asks this
// sidecar, and refuses where it fails.
func (e Entry) asks(line string) bool {
	return (strings.HasSuffix(line, guard) || strings.HasSuffix(line, guardAfter)) && strings.HasPrefix(line, "/usr/bin/timeout ") &&
		strings.Contains(line, shellquote.Join(e.Programs+"/bailiff-hook")) && strings.Contains(line, shellquote.Join("--listen", e.Listen))
}

// ownSocket says whether the address is the one at which every user's own sidecar listens.
func (e Entry) ownSocket() bool {
	return e.Listen == "unix://"+defaultpath.Socket(defaultpath.AgentSocket)
}
