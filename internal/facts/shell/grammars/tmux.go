package grammars

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// tmux runs the text of its option "-c", or its own commands, of which ";" ends one.
func (rd *Reader) tmux(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	if code, given := args.Value("-c"); given {
		return rd.Text(name, inv, code, inv.Scope.Fork()), true
	}
	if namesSettings(args, "-f") || rd.SetsAny(windowVariables) {
		rd.Hide()
	}
	last, ran := call.Result{}, false
	for i, words := range tmuxCommands(args.Rest) {
		if r, ok := rd.tmuxCommand(name, inv, words, i == 0); ok {
			last, ran = r, true
		}
	}
	return last, ran
}

// namesSettings says that an option names a file of settings, whose commands are not read.
func namesSettings(args *call.Arguments, name string) bool {
	return slices.ContainsFunc(args.Options, func(given call.Option) bool { return given.Name == name && given.Value.Text != "/dev/null" })
}

// tmuxCommands splits words where tmux does: at one that ends with ";".
func tmuxCommands(words []word.Word) [][]word.Word {
	var all [][]word.Word
	for len(words) > 0 {
		end := slices.IndexFunc(words, func(w word.Word) bool { return strings.HasSuffix(w.Text, ";") && !strings.HasSuffix(w.Text, `\;`) })
		if end < 0 {
			return append(all, words)
		}
		one := slices.Clone(words[:end])
		if text := strings.TrimSuffix(words[end].Text, ";"); text != "" {
			one = append(one, word.Part(words[end], text))
		}
		if len(one) > 0 {
			all = append(all, one)
		}
		words = words[end+1:]
	}
	return all
}

// tmuxCommand does what one command of tmux does. Some start a program, some only look and arrange, and some are judged by their
// names, which the policies look for at the start. What the others type, run or set is not read.
func (rd *Reader) tmuxCommand(name string, inv *call.Invocation, words []word.Word, isFirst bool) (call.Result, bool) {
	for _, w := range words[1:] {
		rd.Seek(w, inv.Scope)
	}
	verb, does := tmuxVerb(words[0])
	if slices.ContainsFunc(words, mayRunFormat) || maySayMore(words) {
		does = ""
	}
	switch does {
	case "starts":
		return rd.tmuxWindow(name, verb, inv, words[1:]), true
	case "looks":
		return call.Result{}, false
	case "alone":
		if len(words) == 1 {
			return call.Result{}, false
		}
	case "forgets":
		if onlyForgets(words[1:]) {
			return call.Result{}, false
		}
	case "sets":
		if setsHarmless(words[1:]) {
			return call.Result{}, false
		}
	case "judged":
		if isFirst && words[0].Text == verb {
			return call.Result{}, false
		}
	}
	rd.Hide()
	return call.Result{Out: word.Unknown(value.Taint{})}, true
}

// tmuxWindow starts a program in a window: one word is a shell's text, several are the program's own words.
func (rd *Reader) tmuxWindow(name, verb string, inv *call.Invocation, words []word.Word) call.Result {
	described := programs.Look(name + " " + verb).Described
	given := call.ParseArguments(words, described)
	in := *rd.Environment(described.Environment, inv, given)
	if dir, ok := given.Value(described.Chdir...); ok {
		in.Scope = rd.ScopeIn(dir, in.Scope)
	}
	switch len(given.Rest) {
	case 0:
		return call.Result{}
	case 1:
		return rd.Text(name, &in, given.Rest[0], in.Scope.Fork())
	}
	return rd.Inner(name, &in, given.Rest)
}

// mayRunFormat says that a word is, or may be, a format in which tmux runs a program, or holds the end of a command or commands in
// braces.
func mayRunFormat(w word.Word) bool {
	return !w.Known && w.Text == "" || strings.HasSuffix(w.Text, `\;`) || strings.Contains(w.Text, "#(") || strings.HasPrefix(w.Text, "{")
}

// maySayMore says that a word which is not known may end the command before another one, or is from a download.
func maySayMore(words []word.Word) bool {
	for i, w := range words {
		if next, _ := tmuxVerb(word.First(words[i+1:])); !w.Known && (w.Fetched || next != "") {
			return true
		}
	}
	return false
}

// tmuxVerb is the full name of a command, which may be shortened as long as it is clear, and what such commands do. The second is
// empty for one that is not known.
func tmuxVerb(w word.Word) (name, does string) {
	if !w.Known || w.Text == "" {
		return "", ""
	}
	fits := 0
	for _, c := range tmuxVerbs() {
		if w.Text == c.name || w.Text == c.short {
			return c.name, c.does
		}
		if strings.HasPrefix(c.name, w.Text) {
			name, does = c.name, c.does
			fits++
		}
	}
	if fits != 1 {
		return "", ""
	}
	return name, does
}

// tmuxVerbs are all commands of tmux, since a shortened name is clear only among all.
var tmuxVerbs = sync.OnceValue(func() []tmuxKnown {
	var all []tmuxKnown
	for line := range strings.Lines(tmuxText) {
		f := strings.Fields(line)
		all = append(all, tmuxKnown{f[0], f[1], f[2]})
	}
	return all
})

// tmuxKnown is one line of tmux.txt: a name, its alias and what such commands do; "-" stands for none.
type tmuxKnown struct{ name, short, does string }

//go:embed tmux.txt
var tmuxText string

// onlyForgets says that a variable of tmux is removed and none set.
func onlyForgets(words []word.Word) bool {
	given := call.ParseArguments(words, &programs.Program{Strict: true, Options: programs.Options{"-t": programs.Plain}})
	return given.Has("-u", "-r") && len(given.Rest) == 1 && given.Rest[0].Known
}

// setsHarmless says that an option of tmux is set that neither names a program nor hooks one on.
func setsHarmless(words []word.Word) bool {
	given := call.ParseArguments(words, &programs.Program{Strict: true, Options: programs.Options{"-t": programs.Plain}})
	return len(given.Rest) > 0 && given.Rest[0].Known && harmlessOfTmux[given.Rest[0].Text]
}

var harmlessOfTmux = value.SetOf(`aggressive-resize allow-rename automatic-rename base-index bell-action buffer-limit clock-mode-style
	default-size default-terminal detach-on-destroy display-panes-time display-time escape-time exit-empty exit-unattached extended-keys
	focus-events history-limit main-pane-height main-pane-width mode-keys monitor-activity monitor-bell monitor-silence mouse
	pane-active-border-style pane-base-index pane-border-status pane-border-style remain-on-exit renumber-windows repeat-time set-clipboard
	set-titles status status-bg status-fg status-interval status-justify status-keys status-left-length status-position
	status-right-length status-style visual-activity visual-bell window-size window-status-current-style window-status-style wrap-search
	xterm-keys`)
