package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// runsOptions notes the files that options name.
func (a *analysis) runsOptions(name string, inv *call.Invocation, args *call.Arguments) {
	if len(args.Options) == 0 {
		return
	}
	options := a.about(name).Own.Runs
	if options == nil {
		options = programs.Of(programs.Family(name)).Runs
	}
	for _, o := range args.Options {
		if !slices.Contains(options, o.Name) || a.IsInput(o.Value, inv.Scope) {
			continue
		}
		a.ProgramFile(name, o.Value, inv)
		if strings.Contains(o.Value.Text, ":") { // a path of several
			for file := range strings.SplitSeq(o.Value.Text, ":") {
				a.ProgramFile(name, word.Part(o.Value, file), inv)
			}
		}
	}
}

// runsProject notes the files that programs look for in the folder of a project.
func (a *analysis) runsProject(name string, inv *call.Invocation, args *call.Arguments) {
	if p := a.about(name).Own; p.Project != "" {
		there := *inv
		sc, given := a.projectOf(p, inv, args)
		there.Scope = sc
		switch word.First(given.Operands).Text {
		case "run", "run-script", "test", "t", "start", "build", "install", "i", "ci", "update", "dump-autoload":
			a.RunAny(sc, p.Project)
		}
		a.projectScripts(name, p.Project, &there, given)
	}
	if files := grammars.Of(a.about(name).Own.Grammar).Files; files != nil {
		files(&a.reader, name, inv, args)
	}
}

// programFile is the word that names the file which an interpreter runs.
func (a *analysis) programFile(name string, inv *call.Invocation, args *call.Arguments) word.Word {
	words := args.Operands
	project := a.about(name).Own.Project
	if project == "" || word.First(words).Text != "run" {
		return word.First(words)
	}
	for words = words[1:]; strings.HasPrefix(word.First(words).Text, "-"); words = words[1:] {
		if word.First(words).Text == "-" {
			break
		}
	}
	a.RunAny(inv.Scope, project)
	return word.First(words)
}

// transfer notes what a call puts into the files that it writes.
func (a *analysis) transfer(inv *call.Invocation, name string, args *call.Arguments, c *value.Call) {
	if len(c.Writes) == 0 && len(args.Operands) == 0 {
		return
	}
	fills, args := a.fillsOf(name, args)
	switch {
	case fills == programs.Copied && len(c.Writes) > 0:
		words, to, _ := args.Destination()
		var from []string
		for _, w := range words {
			from = append(from, a.FileAt(w, inv.Scope))
		}
		a.Transfer(a.Path(to, inv.Scope), from, overlay.Copied)
	case fills == programs.Copied:
	case fills == programs.Parts || fills == programs.Expanded:
		a.spread(fills, inv, args)
	default:
		if fills == programs.Compiled {
			a.builds(inv, args, c)
		}
		a.writtenBy(name, fills, c)
	}
}

// builds notes the programs that a compiler makes of sources that the text wrote, which no reader here understands.
func (a *analysis) builds(inv *call.Invocation, args *call.Arguments, c *value.Call) {
	isWritten := func(file string) bool { return languages.IsCompiled(file) && a.IsWritten(file) }
	sources := a.Paths(args.Operands, inv.Scope)
	switch {
	case slices.ContainsFunc(sources, isWritten):
		a.Build(slices.Concat(c.Writes, a.Paths(compilerOutputs(args), inv.Scope))...)
	case word.First(args.Operands).Text == "build" && slices.ContainsFunc(a.WrittenPaths(), isWritten):
		a.Build(append(slices.Clone(c.Writes), "")...)
	}
}

// compilerOutputs are the files that a compiler may write: those that an option has in one word with itself, as in "-oNAME" and "-of=NAME",
// and those that it names after its sources, beside them or in the current folder.
func compilerOutputs(args *call.Arguments) []word.Word {
	all := []word.Word{word.Of("a.out")}
	for _, w := range args.Operands {
		stem := word.Part(w, strings.TrimSuffix(w.Text, path.Ext(w.Text)))
		all = append(all, stem, word.Part(stem, path.Base(stem.Text)))
	}
	for _, w := range args.All {
		attached, _ := strings.CutPrefix(w.Text, "-o")
		for _, before := range []string{"", "f", "=", "f=", "ut:"} {
			if file, ok := strings.CutPrefix(attached, before); ok && attached != w.Text && file != "" {
				all = append(all, word.Part(w, file))
			}
		}
	}
	return all
}

// writtenBy notes what the files that a call writes may be made of: those that it reads, and
// those that the pipe before it reads.
func (a *analysis) writtenBy(name string, fills programs.Fills, c *value.Call) {
	if len(c.Writes) == 0 {
		return
	}
	kind := overlay.Written
	switch fills {
	case programs.Unpacked:
		kind = overlay.UnpackedInto
	case programs.Compiled:
		kind = overlay.CompiledFrom
	}
	from := slices.Clone(c.Reads)
	for i := a.piped; i < len(a.Calls)-1 && a.aside > 0 && a.Spend(1); i++ {
		from = append(from, a.Calls[i].Reads...)
	}
	if len(from) == 0 && !a.editsUnseen(name) {
		return
	}
	for _, to := range c.Writes {
		a.Transfer(to, from, kind)
	}
}
