package settings

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// Hook is one of bailiff's hooks in the settings that an agent reads.
type Hook struct {
	// Path is the file, Lock says whose it is.
	Path, Lock string
	// Line is the command line, Tools what it is called for, Limit after how many seconds the
	// agent runs the tool without its answer.
	Line, Tools string
	Limit       int
	// Units is in how many parts of a second the agent counts its limit.
	Units int
	// Off says why the agent does not call it; empty if it does. Mend is what has it call it. Doubt says when it may not.
	Off, Mend, Doubt string
}

// Server is a server of bailiff's tools in the settings of an agent.
type Server struct {
	// Path is the file, Command what the agent starts.
	Path    string
	Command []string
	// Off says why the agent does not start it; empty if it does.
	Off string
}

// Fault says why the agent would run tools unjudged although it has the hook, and what would mend
// that; both are empty where it would not.
func (h Hook) Fault() (what, do string) {
	switch limit, known := h.killedAfter(); {
	case h.Tools != "" && h.Tools != "*" && h.Tools != ".*":
		return fmt.Sprintf("It is called for %q only; every other tool runs unjudged.", h.Tools), `Set "matcher" to "*".`
	case !h.IsGuarded() || !known:
		return "Where the hook is missing, killed or stuck, the agent runs the tool.", "Set the whole line that bailiff setup writes."
	case limit >= h.Limit:
		return fmt.Sprintf("The agent runs the tool after %d s without an answer, and the hook may take %d s.", h.Limit, limit),
			fmt.Sprintf(`Set "timeout" to %d.`, UsualLimit*max(1, h.Units))
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

// IsGuarded says whether the line refuses the tool where the hook is missing, killed or stuck.
func (h Hook) IsGuarded() bool {
	return strings.HasSuffix(h.Line, hook.Guard) && strings.HasPrefix(h.Line, "/usr/bin/timeout ")
}

// IsHook says whether a command line of settings starts the hook of a client.
func IsHook(line, client string) bool {
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
