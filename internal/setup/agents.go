package setup

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/defaultpath"
	"github.com/bailiff-dev/bailiff/internal/shellquote"
)

// agent is one program whose settings can have it ask.
type agent interface {
	// settings are the paths of the user's files that are written.
	settings(e Entry) []string
	// add has the agent ask, remove has it ask no longer.
	add(e Entry) ([]Change, error)
	remove(e Entry) ([]Change, error)
	// managed are the lines by which root has every user's agent ask.
	managed(e Entry) []string
}

var agents = map[string]agent{
	"claude-code": claude{},
}

// Agents are the names of those that can be set up.
func Agents() string { return strings.Join(slices.Sorted(maps.Keys(agents)), ", ") }

// Entry is what an agent's settings have to say.
type Entry struct {
	// Listen is the address of the sidecar.
	Listen string
	// Programs is the folder of bailiff and bailiff-hook, Home that of the user.
	Programs, Home string
	// Getenv reads the variables by which agents find their settings.
	Getenv func(name string) string
}

// Entry is the one of the agent that is set up.
func (s *Survey) Entry() Entry {
	return Entry{Listen: s.address(), Programs: s.in.Programs, Home: s.in.Home, Getenv: s.in.Getenv}
}

// Managed are the lines by which root has every user's agent ask, each at a sidecar of its
// own or at this one.
func (s *Survey) Managed() []string { return s.agent.managed(s.Entry()) }

// guard stands behind a hook: whatever is no answer refuses.
const guard = ` || { [ $? -eq 2 ] || echo 'bailiff-hook failed, so nothing runs' >&2; exit 2; }`

// hook is the command line by which an agent has each of its tools judged.
func (e Entry) hook(client string) string {
	return shellquote.Join("/usr/bin/timeout", "-s", "KILL", "55", e.Programs+"/bailiff-hook", client, "--listen", e.Listen) + guard
}

// isHook says whether a command line of somebody's settings starts the hook of a client.
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
	return strings.HasSuffix(line, guard) && strings.HasPrefix(line, "/usr/bin/timeout ") &&
		strings.Contains(line, shellquote.Join(e.Programs+"/bailiff-hook")) && strings.Contains(line, shellquote.Join("--listen", e.Listen))
}

// ownSocket says whether the address is the one at which every user's own sidecar listens.
func (e Entry) ownSocket() bool {
	return e.Listen == "unix://"+defaultpath.Socket(defaultpath.AgentSocket)
}
