package object

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// maxQuoted is how many paths and commands in quotes a text is taken to name.
const maxQuoted = 8

var (
	quotedPaths = regexp.MustCompile(`['"` + "`" + `]([~/][^'"` + "`" + `\s]*)['"` + "`" + `]`)
	quotedTexts = regexp.MustCompile(`"([^"\n]+)"|'([^'\n]+)'|` + "`([^`\n]+)`")
	// connecting is a shell whose input and output are a connection.
	connecting = regexp.MustCompile(`\b(?:ba|da|z|k)?sh\b[^\n'"` + "`" + `]*/dev/(?:tcp|udp)/[^\n'"` + "`" + `]*`)
)

// NamedPaths are the paths that a text names: itself, or some in quotes where it has blanks.
func NamedPaths(text string) []string {
	if !strings.ContainsAny(text, " \t\n") {
		if strings.Contains(text, "://") || !strings.Contains(text, "/") && !strings.HasPrefix(text, "~") && !strings.HasPrefix(text, ".") {
			return nil
		}
		return []string{text}
	}
	var out []string
	for _, m := range quotedPaths.FindAllStringSubmatch(text, maxQuoted) {
		out = append(out, m[1])
	}
	return out
}

// Commands are the shell texts that a text may be, or has in quotes: each begins with a program that is known to do something to
// what it is given.
func Commands(text string) []string {
	var out []string
	if isCommand(text) {
		out = append(out, strings.TrimLeft(text, commandEdge))
	}
	for _, m := range quotedTexts.FindAllStringSubmatch(text, maxQuoted) {
		for _, inner := range m[1:] {
			if isCommand(inner) {
				out = append(out, strings.TrimLeft(inner, commandEdge))
			}
		}
	}
	return append(out, connections(text)...)
}

// Payloads are the commands in a text that is to run on another host, or in another language.
func Payloads(text string) []string {
	if starting.MatchString(text) {
		return Commands(text)
	}
	return connections(text)
}

// starting is how languages start a program.
var starting = regexp.MustCompile(`(?i)\b(?:exec\w*|system|spawn\w*|popen|passthru|Runtime\.getRuntime)\s*\(`)

// connections are the shells in a text that another host is to talk to.
func connections(text string) []string {
	if !strings.Contains(text, "/dev/tcp/") && !strings.Contains(text, "/dev/udp/") {
		return nil
	}
	return connecting.FindAllString(text, maxQuoted)
}

const commandEdge = " \t\n;|&$(!"

// isCommand says that a text is several words, of which the first is a program that a shell's text may start.
func isCommand(text string) bool {
	first, rest, several := strings.Cut(strings.TrimLeft(text, commandEdge), " ")
	return several && rest != "" && IsProgram(first)
}

// IsProgram says that a word is the name of a known program, or its path in a folder of the system.
func IsProgram(word string) bool {
	if at := strings.LastIndexByte(word, '/'); at >= 0 {
		if !slices.Contains([]string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin"}, word[:at]) {
			return false
		}
		word = word[at+1:]
	}
	return word != "" && programs.Starts(word)
}
