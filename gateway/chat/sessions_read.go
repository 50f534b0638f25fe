package chat

import (
	"errors"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// task is the command or code that a message asks to run.
type task struct {
	tool bailiff.Tool
	text string
}

func (t task) args() bailiff.Args {
	if t.tool == bailiff.ExecuteCode {
		return bailiff.Args{Code: t.text}
	}
	return bailiff.Args{Command: t.text}
}

// The commands to bailiff itself.
const (
	slashStatus    = "/status"
	slashStop      = "/stop"
	slashNew       = "/new"
	slashApprovals = "/approvals"
	slashUndo      = "/undo"
	slashHelp      = "/help"
)

const fence = "```"

var (
	errAround   = errors.New("a message is either a command or one block between three backticks, with nothing around it")
	errTicks    = errors.New("a command is written without backticks around it: they would run it, and then what it prints")
	errEmpty    = errors.New("there is nothing between the backticks")
	errLanguage = errors.New("after the three backticks stands python or nothing, to run the block as Python, or sh, bash or shell, to " +
		"run it as a command")
)

// languages are the names that may stand after the first backticks.
var languages = map[string]bailiff.Tool{
	"": bailiff.ExecuteCode, "python": bailiff.ExecuteCode, "python3": bailiff.ExecuteCode, "py": bailiff.ExecuteCode,
	"sh": bailiff.Terminal, "bash": bailiff.Terminal, "shell": bailiff.Terminal,
}

// read reads a message: a word to bailiff itself, or what is to run. The error says
// why it is neither.
func read(text string) (word string, what task, err error) {
	text = strings.TrimSpace(text)
	switch text {
	case "", "/start", slashHelp: // the second is what Telegram says first
		return slashHelp, task{}, nil
	case slashStatus, slashStop, slashNew, slashApprovals:
		return text, task{}, nil
	}
	if isUndo(text) {
		return text, task{}, nil
	}
	if strings.Contains(text, fence) {
		what, err = readBlock(text)
		return "", what, err
	}
	if inside, is := within(text, "`"); is && !strings.Contains(inside, "`") {
		return "", task{}, errTicks
	}
	return "", task{bailiff.Terminal, text}, nil
}

// readBlock reads a message that is one fenced block.
func readBlock(text string) (task, error) {
	inside, is := within(text, fence)
	if !is || strings.Contains(inside, fence) {
		return task{}, errAround
	}
	language, rest, more := strings.Cut(inside, "\n")
	if language = strings.TrimSpace(language); !more || !isWord(language) {
		language, rest = "", inside
	}
	tool, known := languages[strings.ToLower(language)]
	switch {
	case !known:
		return task{}, errLanguage
	case strings.TrimSpace(rest) == "":
		return task{}, errEmpty
	}
	return task{tool, strings.TrimSuffix(rest, "\n")}, nil
}

// within returns the text between two equal marks at the ends of a text.
func within(text, sign string) (inside string, is bool) {
	if len(text) < 2*len(sign) {
		return "", false
	}
	inside, begins := strings.CutPrefix(text, sign)
	inside, ends := strings.CutSuffix(inside, sign)
	return inside, begins && ends
}

// isWord says whether a line can be the name of a language.
func isWord(line string) bool {
	return strings.Trim(strings.ToLower(line), "abcdefghijklmnopqrstuvwxyz0123456789+#-_") == ""
}

// titleLength is how long the title of a thread may be.
const titleLength = 80

// title is the title of a thread that starts at a command.
func title(what task) string {
	line, _, _ := strings.Cut(strings.TrimSpace(what.text), "\n")
	return termsafe.Brief(line, titleLength)
}
