package chat

import (
	"slices"
	"strings"
	"unicode/utf16"
)

// Plain is a text without its styles; a block stands in lines of its own.
func (t Text) Plain() string {
	var b strings.Builder
	for i, p := range t {
		if p.Style == Block && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteString("\n")
		}
		b.WriteString(p.Text)
		if p.Style == Block && i < len(t)-1 && !strings.HasSuffix(p.Text, "\n") {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// Units is how long a text is in units of UTF-16, by which most services count.
func Units(text string) (n int) {
	for _, c := range text {
		n += utf16.RuneLen(c)
	}
	return n
}

// Split cuts a text where there is no more room, in units of UTF-16.
func Split(text string, room int) (head, tail string) {
	for i, c := range text {
		if room -= utf16.RuneLen(c); room < 0 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// Excerpt is at most so many units of UTF-16 of a text, with a mark where it was cut.
func Excerpt(text string, most int) string {
	if Units(text) <= most {
		return text
	}
	head, _ := Split(text, most-1)
	return head + "…"
}

// Command is one to bailiff itself.
type Command struct {
	Name, Description string
	// Argument says what follows the name; empty if nothing does.
	Argument string
}

// Commands are those to bailiff itself, as services offer them.
var Commands = []Command{
	{"status", "What runs here, and where", ""},
	{"stop", "Stop what runs here", ""},
	{"new", "Begin anew, in a new sandbox", ""},
	{"approvals", "Which approvals are pending in this session, and who can answer them", ""},
	{"undo", "Put back what a command changed in a project", "The command's id, then files if not all are meant, or --force"},
	{"help", "What can be said to bailiff", ""},
}

// CommandNames are their names.
func CommandNames() (names []string) {
	for _, c := range Commands {
		names = append(names, c.Name)
	}
	return names
}

// IsCommand says whether a name is one of them.
func IsCommand(name string) bool { return slices.Contains(CommandNames(), name) }

// HasArgument says whether something may follow the name of a command.
func HasArgument(name string) bool {
	return slices.ContainsFunc(Commands, func(c Command) bool { return c.Name == name && c.Argument != "" })
}
