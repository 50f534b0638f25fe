package shell

import (
	"regexp"
	"strings"
)

var sedExec = regexp.MustCompile(`(?m)(?:^|;|\d|\$|/)\s*e\s+(\S[^;\n]*)`)

// sedRuns finds the command "e" that is given no text: the lines of the input are the commands.
var sedRuns = regexp.MustCompile(`(?m)(?:^|[;{}\d$/])\s*e\s*(?:$|[;}])`)

// sed runs what its "e" command names.
func (a *analysis) sed(_ string, inv *invocation, args *arguments) (result, bool) {
	for _, w := range a.sedScripts(inv, args) {
		a.sedWrites(inv, w)
		if sedRuns.MatchString(w.text) {
			a.hide()
		}
		if strings.HasPrefix(w.text, "s") {
			continue
		}
		for _, m := range sedExec.FindAllStringSubmatch(w.text, -1) {
			a.text("sed", inv, part(w, m[1]), inv.sc.fork())
		}
	}
	return result{out: a.sedLines(inv, args)}, true
}

// sedLines are the lines that it writes: those that it reads behind a text, where it does nothing else.
func (a *analysis) sedLines(inv *invocation, args *arguments) stream {
	out := unknown(inv.in.Taint)
	scripts := a.sedScripts(inv, args)
	if len(scripts) != 1 || len(args.operands) > 1 {
		return out
	}
	prefix, ok := sedPrefix(scripts[0])
	if !ok {
		return out
	}
	names := inv.in.names()
	if len(names) == 0 {
		names = []word{{text: "***", glob: true}}
	}
	for _, name := range names {
		out.items = append(out.items, joined(prefix, name.text))
	}
	return out
}

// sedPrefix is the text that a script such as "s/^/TEXT/" puts before each line.
func sedPrefix(script word) (word, bool) {
	if !script.known || len(script.text) < 2 || script.text[0] != 's' {
		return word{}, false
	}
	parts := strings.Split(script.text[2:], script.text[1:2])
	if len(parts) != 3 || parts[0] != "^" || parts[2] != "" || !strings.HasSuffix(parts[1], "/") || strings.ContainsAny(parts[1], `\&`) {
		return word{}, false
	}
	return known(parts[1]), true
}

// sedScripts are the scripts of a call, as far as the text holds them.
func (a *analysis) sedScripts(inv *invocation, args *arguments) []word {
	if _, given := args.value("-e", "--expression", "-f", "--file"); !given {
		return args.operands[:min(1, len(args.operands))]
	}
	var scripts []word
	for _, o := range args.options {
		if o.name == "-e" || o.name == "--expression" {
			scripts = append(scripts, o.value)
		} else if s, ok := a.programIn(o.value, inv); ok && (o.name == "-f" || o.name == "--file") {
			for _, w := range a.ofItsOwn(s) {
				a.sedFiles(inv, w)
				scripts = append(scripts, w)
			}
		}
	}
	return scripts
}

var sedFile = regexp.MustCompile(`(?m)(?:^|[;{}/\d$])\s*([rRwW])\s+(\S[^\n;}]*)`)

// sedFiles notes the files that a script which no word of the call holds names.
func (a *analysis) sedFiles(inv *invocation, script word) {
	e := &effect{a: a, sc: inv.sc}
	for _, m := range sedFile.FindAllStringSubmatch(script.text, -1) {
		if m[1] == "r" || m[1] == "R" {
			e.read(part(script, m[2]))
		} else {
			e.write(part(script, m[2]))
		}
	}
	a.alsoTouches(inv, e.reads, e.writes)
}

// sedWrites notes that a script of the text puts into files what it got from the text.
func (a *analysis) sedWrites(inv *invocation, script word) {
	if !inv.in.present && len(a.contents) == 0 {
		return
	}
	for _, m := range sedFile.FindAllStringSubmatch(script.text, -1) {
		if m[1] == "w" || m[1] == "W" {
			a.keep(a.path(part(script, m[2]), inv.sc), unknown(inv.in.Taint), false)
		}
	}
}

// sed changes its files in place with -i.
func (e *effect) sed(string) {
	if e.args.has("-i", "--in-place") {
		e.write(e.afterScript(e.args.operands)...)
	}
}
