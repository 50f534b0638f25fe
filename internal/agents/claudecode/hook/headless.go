package hook

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
)

// mostBetween bounds the shells between a client and its hook.
const mostBetween = 4

// printsAndEnds says whether a process belongs to a Claude Code that was started to
// print and end ("claude -p"), and has no program beside it that answers its questions
// for a person. Where the system does not tell how it was started, it counts as one
// with a person in front.
func printsAndEnds(pid int) bool {
	if os.Getenv("CLAUDE_CODE_ENTRYPOINT") != "sdk-cli" {
		return false
	}
	for range mostBetween {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		words := strings.Split(string(text), "\x00")
		if slices.Contains(words, "-p") || slices.Contains(words, "--print") {
			return !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--permission-prompt-tool") })
		}
		if pid = parentOf(pid); pid == 0 {
			return false
		}
	}
	return false
}

// parentOf is whose child a process is, as Linux tells it, or zero.
func parentOf(pid int) int {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
	fields := bytes.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}
