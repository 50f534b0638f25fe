package grammars

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// sed reads the script of a call: the files that it names, and the commands of "e".
func (rd *Reader) sed(_ string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	scripts := rd.sedScripts(inv, args)
	if len(scripts) > 0 {
		rd.sedScript(inv, word.Join(scripts, "\n"))
	}
	return call.Result{Out: rd.sedLines(inv, args)}, true
}

// sedScript notes what a script does. One that is not read to its end may run anything, and so may what another program made.
func (rd *Reader) sedScript(inv *call.Invocation, script word.Word) {
	read, ok := readSed(script, func(text string, at int) int { return rd.hole(text, at, inv.Scope) })
	if !rd.Spend(1+len(script.Text)/64) || !ok || read.runsInput || !script.Known && (script.Fetched || script.Decoded) {
		rd.NoteRun(script.Taint)
		rd.Hide()
		rd.NoteFeature(value.FeatureInlineProgram)
		rd.NoteFeature(value.FeatureUnreadProgram)
	}
	e := effects.New(rd.FS, inv.Scope)
	for _, file := range read.reads {
		e.Read(word.Part(script, file))
	}
	for _, file := range read.writes {
		if file != "/dev/stdout" && file != "/dev/stderr" {
			e.Write(word.Part(script, file))
		}
	}
	rd.AddToCall(inv.Number, e.Reads, e.Writes)
	if inv.In.Present || rd.HasWrites() {
		for _, file := range e.Writes {
			rd.Write(file, word.Unknown(inv.In.Taint), false)
		}
	}
	for _, command := range read.commands {
		rd.Text("sed", inv, word.Part(script, command), inv.Scope.Fork())
	}
	for _, command := range read.literal {
		rd.Text("sed", inv, word.Of(command), inv.Scope.Fork())
	}
}

// hole is how long the part of a word is that begins at a place and stands for what the text does not tell, 0 where none does:
// a substitution, or a variable of the text or of its environment.
func (rd *Reader) hole(text string, at int, sc *state.Scope) int {
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
		if sc.Has(name) || word.AllDigits(name) || slices.Contains(rd.Variables, name) {
			return end
		}
	}
	return 0
}

// sedArguments knows that "-i" takes the rest of its word for the ending of a copy.
func sedArguments(words []word.Word, p *programs.Program) *call.Arguments {
	cut := slices.Clone(words)
	var endings []call.Option
	for i := 0; i < len(words) && words[i].Text != "--"; i++ {
		w := words[i]
		_, takesNext := p.Options[p.Spelt(w.Text)]
		at := strings.IndexAny(w.Text, "iefl")
		switch isCluster := at > 0 && w.Text[0] == '-' && w.Text[1] != '-'; {
		case isCluster && w.Text[at] == 'i' && at+1 < len(w.Text):
			cut[i] = word.Part(w, w.Text[:at+1])
			endings = append(endings, call.Option{Name: "-i", Value: word.Part(w, w.Text[at+1:])})
		case isCluster && w.Text[at] != 'i' && at+1 == len(w.Text), takesNext:
			i++ // the value, even if it looks like an option
		}
	}
	g := call.ParseArguments(cut, p)
	g.All, g.Options = words, append(g.Options, endings...)
	return g
}

// sedLines are the lines that it writes: those that it reads behind a text, where it does nothing else.
func (rd *Reader) sedLines(inv *call.Invocation, args *call.Arguments) word.Stream {
	out := word.Unknown(inv.In.Taint)
	scripts := rd.sedScripts(inv, args)
	if len(scripts) != 1 || len(args.Operands) > 1 {
		return out
	}
	prefix, ok := sedPrefix(scripts[0])
	if !ok {
		return out
	}
	names := inv.In.Names()
	if len(names) == 0 {
		names = []word.Word{{Text: "***", Glob: true}}
	}
	for _, name := range names {
		out.Items = append(out.Items, word.Below(prefix, name.Text))
	}
	return out
}

// sedPrefix is the text that a script such as "s/^/TEXT/" puts before each line.
func sedPrefix(script word.Word) (word.Word, bool) {
	if !script.Known || len(script.Text) < 2 || script.Text[0] != 's' {
		return word.Word{}, false
	}
	parts := strings.Split(script.Text[2:], script.Text[1:2])
	if len(parts) != 3 || parts[0] != "^" || parts[2] != "" || !strings.HasSuffix(parts[1], "/") || strings.ContainsAny(parts[1], `\&`) {
		return word.Word{}, false
	}
	return word.Of(parts[1]), true
}

// sedScripts are the parts of the script of a call, as far as the text holds them.
func (rd *Reader) sedScripts(inv *call.Invocation, args *call.Arguments) []word.Word {
	if _, given := args.Value("-e", "--expression", "-f", "--file"); !given {
		return sedOperand(args)
	}
	var scripts []word.Word
	for _, o := range args.Options {
		if o.Name == "-e" || o.Name == "--expression" {
			scripts = append(scripts, o.Value)
		} else if s, ok := rd.ProgramIn(o.Value, inv.In, inv.Scope); ok && (o.Name == "-f" || o.Name == "--file") {
			for _, w := range rd.Programs(s) {
				if w.Known {
					scripts = append(scripts, w)
				}
			}
		}
	}
	return scripts
}

// sedOperand is the operand that is the script. Where "-i" must have an ending (BSD), a word before it is that.
func sedOperand(args *call.Arguments) []word.Word {
	ops := args.Operands
	if len(ops) > 1 && ops[0].Known && (ops[0].Text == "" || isEnding(ops[0].Text)) && args.Has("-i") {
		ops = ops[1:]
	}
	return ops[:min(1, len(ops))]
}

// isEnding says that a word is the ending of a name, such as ".bak", and so no script.
func isEnding(s string) bool {
	return len(s) > 1 && s[0] == '.' && strings.Trim(s[1:], "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// sedEffects: sed changes its files in place with -i.
func sedEffects(e *effects.Collector, _ string) {
	if !e.Args.Has("-i", "--in-place") {
		return
	}
	e.Write(e.Args.AfterScript(e.Args.Operands)...)
	if ending, ok := e.Args.Value("-i", "--in-place"); ok && strings.Contains(ending.Text, "/") {
		e.Write(word.Part(ending, ending.Text[:strings.LastIndexByte(ending.Text, '/')+1]))
	}
}
