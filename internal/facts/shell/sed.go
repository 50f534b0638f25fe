package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// sed reads the script of a call: the files that it names, and the commands of "e".
func (rd *reader) sed(_ string, inv *invocation, args *arguments) (result, bool) {
	scripts := rd.sedScripts(inv, args)
	if len(scripts) > 0 {
		rd.sedScript(inv, join(scripts, "\n"))
	}
	return result{out: rd.sedLines(inv, args)}, true
}

// sedScript notes what a script does. One that is not read to its end may run anything, and so may what another program made.
func (rd *reader) sedScript(inv *invocation, script word) {
	read, ok := readSed(script, func(text string, at int) int { return rd.hole(text, at, inv.sc) })
	if !rd.spend(1+len(script.text)/64) || !ok || read.runsInput || !script.known && (script.Fetched || script.Decoded) {
		rd.ran(script.Taint)
		rd.hide()
		rd.feature(value.FeatureInlineProgram)
		rd.feature(value.FeatureUnreadProgram)
	}
	e := newEffect(rd.overlay, inv.sc)
	for _, file := range read.reads {
		e.read(part(script, file))
	}
	for _, file := range read.writes {
		if file != "/dev/stdout" && file != "/dev/stderr" {
			e.write(part(script, file))
		}
	}
	rd.alsoTouches(inv.made, e.reads, e.writes)
	if inv.in.present || rd.hasWrites() {
		for _, file := range e.writes {
			rd.keep(file, unknown(inv.in.Taint), false)
		}
	}
	for _, command := range read.commands {
		rd.text("sed", inv, part(script, command), inv.sc.fork())
	}
	for _, command := range read.literal {
		rd.text("sed", inv, known(command), inv.sc.fork())
	}
}

// hole is how long the part of a word is that begins at a place and stands for what the text does not tell, 0 where none does:
// a substitution, or a variable of the text or of its environment.
func (rd *reader) hole(text string, at int, sc *scope) int {
	rest := text[at:]
	if rest[0] != '$' {
		return 0
	}
	for _, shown := range []string{"$(…)", "$((…))", "$…", "$@", "$*"} {
		if strings.HasPrefix(rest, shown) {
			return len(shown)
		}
	}
	end := 1
	for end < len(rest) && (rest[end] == '_' || rest[end] >= '0' && rest[end] <= '9' || rest[end]|0x20 >= 'a' && rest[end]|0x20 <= 'z') {
		end++
	}
	for ; end > 1; end-- {
		name := rest[1:end]
		if _, set := sc.vars[name]; set || allDigits(name) || slices.Contains(rd.variables, name) {
			return end
		}
	}
	return 0
}

// sedArguments knows that "-i" takes the rest of its word for the ending of a copy.
func sedArguments(words []word, p *programs.Program) *arguments {
	cut := slices.Clone(words)
	var endings []option
	for i := 0; i < len(words) && words[i].text != "--"; i++ {
		w := words[i]
		_, takesNext := p.Options[p.Spelt(w.text)]
		at := strings.IndexAny(w.text, "iefl")
		switch isCluster := at > 0 && w.text[0] == '-' && w.text[1] != '-'; {
		case isCluster && w.text[at] == 'i' && at+1 < len(w.text):
			cut[i] = part(w, w.text[:at+1])
			endings = append(endings, option{"-i", part(w, w.text[at+1:])})
		case isCluster && w.text[at] != 'i' && at+1 == len(w.text), takesNext:
			i++ // the value, even if it looks like an option
		}
	}
	g := parseArguments(cut, p)
	g.all, g.options = words, append(g.options, endings...)
	return g
}

// sedLines are the lines that it writes: those that it reads behind a text, where it does nothing else.
func (rd *reader) sedLines(inv *invocation, args *arguments) stream {
	out := unknown(inv.in.Taint)
	scripts := rd.sedScripts(inv, args)
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

// sedScripts are the parts of the script of a call, as far as the text holds them.
func (rd *reader) sedScripts(inv *invocation, args *arguments) []word {
	if _, given := args.value("-e", "--expression", "-f", "--file"); !given {
		return sedOperand(args)
	}
	var scripts []word
	for _, o := range args.options {
		if o.name == "-e" || o.name == "--expression" {
			scripts = append(scripts, o.value)
		} else if s, ok := rd.programIn(o.value, inv.in, inv.sc); ok && (o.name == "-f" || o.name == "--file") {
			for _, w := range rd.ofItsOwn(s) {
				if w.known {
					scripts = append(scripts, w)
				}
			}
		}
	}
	return scripts
}

// sedOperand is the operand that is the script. Where "-i" must have an ending (BSD), a word before it is that.
func sedOperand(args *arguments) []word {
	ops := args.operands
	if len(ops) > 1 && ops[0].known && (ops[0].text == "" || isEnding(ops[0].text)) && args.has("-i") {
		ops = ops[1:]
	}
	return ops[:min(1, len(ops))]
}

// isEnding says that a word is the ending of a name, such as ".bak", and so no script.
func isEnding(s string) bool {
	return len(s) > 1 && s[0] == '.' && strings.Trim(s[1:], "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// sed changes its files in place with -i.
func sedEffects(e *effect, _ string) {
	if !e.args.has("-i", "--in-place") {
		return
	}
	e.write(e.args.afterScript(e.args.operands)...)
	if ending, ok := e.args.value("-i", "--in-place"); ok && strings.Contains(ending.text, "/") {
		e.write(part(ending, ending.text[:strings.LastIndexByte(ending.text, '/')+1]))
	}
}
