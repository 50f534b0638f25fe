package shell

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// tmux runs the text of its option "-c", or its own commands, of which ";" ends one.
func (rd *reader) tmux(name string, inv *invocation, args *arguments) (result, bool) {
	if code, given := args.value("-c"); given {
		return rd.text(name, inv, code, inv.sc.fork()), true
	}
	if namesSettings(args, "-f") || rd.setsAny(windowVariables) {
		rd.hide()
	}
	last, ran := result{}, false
	for i, words := range tmuxCommands(args.rest) {
		if r, ok := rd.tmuxCommand(name, inv, words, i == 0); ok {
			last, ran = r, true
		}
	}
	return last, ran
}

// namesSettings says that an option names a file of settings, whose commands are not read.
func namesSettings(args *arguments, name string) bool {
	return slices.ContainsFunc(args.options, func(given option) bool { return given.name == name && given.value.text != "/dev/null" })
}

// tmuxCommands splits words where tmux does: at one that ends with ";".
func tmuxCommands(words []word) [][]word {
	var all [][]word
	for len(words) > 0 {
		end := slices.IndexFunc(words, func(w word) bool { return strings.HasSuffix(w.text, ";") && !strings.HasSuffix(w.text, `\;`) })
		if end < 0 {
			return append(all, words)
		}
		one := slices.Clone(words[:end])
		if text := strings.TrimSuffix(words[end].text, ";"); text != "" {
			one = append(one, part(words[end], text))
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
func (rd *reader) tmuxCommand(name string, inv *invocation, words []word, isFirst bool) (result, bool) {
	for _, w := range words[1:] {
		rd.seeksFile(w, inv.sc)
	}
	verb, does := tmuxVerb(words[0])
	if slices.ContainsFunc(words, mayRunFormat) || maySayMore(words) {
		does = ""
	}
	switch does {
	case "starts":
		return rd.tmuxWindow(name, verb, inv, words[1:]), true
	case "looks":
		return result{}, false
	case "alone":
		if len(words) == 1 {
			return result{}, false
		}
	case "forgets":
		if onlyForgets(words[1:]) {
			return result{}, false
		}
	case "sets":
		if setsHarmless(words[1:]) {
			return result{}, false
		}
	case "judged":
		if isFirst && words[0].text == verb {
			return result{}, false
		}
	}
	rd.hide()
	return result{out: unknown(value.Taint{})}, true
}

// tmuxWindow starts a program in a window: one word is a shell's text, several are the program's own words.
func (rd *reader) tmuxWindow(name, verb string, inv *invocation, words []word) result {
	described := programs.Look(name + " " + verb).Described
	given := parseArguments(words, described)
	in := *rd.handingOn(described.Environment, inv, given)
	if dir, ok := given.value(described.Chdir...); ok {
		in.sc = rd.standing(dir, in.sc)
	}
	switch len(given.rest) {
	case 0:
		return result{}
	case 1:
		return rd.text(name, &in, given.rest[0], in.sc.fork())
	}
	return rd.inner(name, &in, given.rest)
}

// mayRunFormat says that a word is, or may be, a format in which tmux runs a program, or holds the end of a command or commands in
// braces.
func mayRunFormat(w word) bool {
	return !w.known && w.text == "" || strings.HasSuffix(w.text, `\;`) || strings.Contains(w.text, "#(") || strings.HasPrefix(w.text, "{")
}

// maySayMore says that a word which is not known may end the command before another one, or is from a download.
func maySayMore(words []word) bool {
	for i, w := range words {
		if next, _ := tmuxVerb(first(words[i+1:])); !w.known && (w.Fetched || next != "") {
			return true
		}
	}
	return false
}

// tmuxVerb is the full name of a command, which may be shortened as long as it is clear, and what such commands do. The second is
// empty for one that is not known.
func tmuxVerb(w word) (name, does string) {
	if !w.known || w.text == "" {
		return "", ""
	}
	fits := 0
	for _, c := range tmuxVerbs() {
		if w.text == c.name || w.text == c.short {
			return c.name, c.does
		}
		if strings.HasPrefix(c.name, w.text) {
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
func onlyForgets(words []word) bool {
	given := parseArguments(words, &programs.Program{Strict: true, Options: programs.Options{"-t": programs.Plain}})
	return given.has("-u", "-r") && len(given.rest) == 1 && given.rest[0].known
}

// setsHarmless says that an option of tmux is set that neither names a program nor hooks one on.
func setsHarmless(words []word) bool {
	given := parseArguments(words, &programs.Program{Strict: true, Options: programs.Options{"-t": programs.Plain}})
	return len(given.rest) > 0 && given.rest[0].known && harmlessOfTmux[given.rest[0].text]
}

var harmlessOfTmux = value.SetOf(`aggressive-resize allow-rename automatic-rename base-index bell-action buffer-limit clock-mode-style
	default-size default-terminal detach-on-destroy display-panes-time display-time escape-time exit-empty exit-unattached extended-keys
	focus-events history-limit main-pane-height main-pane-width mode-keys monitor-activity monitor-bell monitor-silence mouse
	pane-active-border-style pane-base-index pane-border-status pane-border-style remain-on-exit renumber-windows repeat-time set-clipboard
	set-titles status status-bg status-fg status-interval status-justify status-keys status-left-length status-position
	status-right-length status-style visual-activity visual-bell window-size window-status-current-style window-status-style wrap-search
	xterm-keys`)
