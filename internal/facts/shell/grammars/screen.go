package grammars

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// screen is understood in its plain forms only: it lists sessions, takes one up, or starts a command in a new one. Its other
// options may stand in one word, take a name or not, type text elsewhere or name files with commands, so they hide what is done.
func (rd *Reader) screen(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	words := inv.Argv[1:]
	if !rd.SetsAny(windowVariables) && onlyLists(words) {
		return call.Result{}, false
	}
	command, ok := background(words)
	if !ok || rd.SetsAny(windowVariables) || len(command) > 0 && !startsPlainly(command[0]) {
		rd.Hide()
		rd.Inner(name, inv, word.After(args.Rest, 1)) // the first word may be the name of a session
		command = args.Rest
	}
	return rd.Inner(name, inv, command), true
}

// windowVariables choose what screen and tmux start in a window, and where their settings are.
var windowVariables = []string{"SHELL", "SCREENRC", "SYSSCREENRC", "SCREENDIR", "TMUX", "TMUX_TMPDIR", "XDG_CONFIG_HOME", "HOME"}

// screenQueries are the questions to a session that change nothing where no word follows.
var screenQueries = value.SetOf("info lastmsg number time title windows")

// onlyLists says that a call of screen shows or asks something, or takes up a session that is there.
func onlyLists(words []word.Word) bool {
	if len(words) > 2 && words[0].Text == "-p" && isSession(words[1]) { // the window to show
		words = words[2:]
	}
	if len(words) > 1 && words[0].Text == "-d" && words[1].Text == "-r" { // detached elsewhere first
		words = words[1:]
	}
	if len(words) == 4 && words[0].Text == "-S" && isSession(words[1]) && words[2].Text == "-Q" {
		words = words[2:]
	}
	switch len(words) {
	case 0:
		return true
	case 1:
		return words[0].Known && slices.Contains([]string{"-ls", "-list", "-v", "-r", "-x"}, words[0].Text)
	case 2:
		return words[0].Text == "-Q" && words[1].Known && screenQueries[words[1].Text] ||
			slices.Contains([]string{"-r", "-x"}, words[0].Text) && isSession(words[1])
	}
	return false
}

// background is the command of a call of screen that starts a session in the background, and whether it is such a call.
func background(words []word.Word) (command []word.Word, ok bool) {
	for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
		option, used := words[0].Text, 1
		switch {
		case option == "-dm" || option == "-Dm":
			ok = true
		case option == "-d" && len(words) > 1 && words[1].Text == "-m":
			ok, used = true, 2
		case option == "-dmS" && len(words) > 1 && isSession(words[1]):
			ok, used = true, 2
		case option == "-S" && len(words) > 1 && isSession(words[1]):
			used = 2
		default:
			return nil, false
		}
		words = words[used:]
	}
	return words, ok
}

// isSession says that a word can only be the name of a session.
func isSession(w word.Word) bool { return w.Known && w.Text != "" && !strings.HasPrefix(w.Text, "-") }

// startsPlainly says that a word is a program to screen, and neither a device nor a window of its own kinds, such as "//telnet".
func startsPlainly(w word.Word) bool {
	return w.Known && !strings.HasPrefix(w.Text, "//") && !strings.HasPrefix(path.Clean(w.Text), "/dev/")
}
