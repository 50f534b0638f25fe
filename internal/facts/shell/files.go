package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// runsOptions notes the files that options name.
func (a *analysis) runsOptions(name string, inv *invocation, args *arguments) {
	if len(args.options) == 0 {
		return
	}
	options := a.about(name).Own.Runs
	if options == nil {
		options = programs.Of(programs.Family(name)).Runs
	}
	for _, o := range args.options {
		if !slices.Contains(options, o.name) || a.isInput(o.value, inv.sc) {
			continue
		}
		a.runsNamed(name, o.value, inv)
		if strings.Contains(o.value.text, ":") { // a path of several
			for file := range strings.SplitSeq(o.value.text, ":") {
				a.runsNamed(name, part(o.value, file), inv)
			}
		}
	}
}

// runsProject notes the files that programs look for in the folder of a project.
func (a *analysis) runsProject(name string, inv *invocation, args *arguments) {
	if p := a.about(name).Own; p.Project != "" {
		there := *inv
		sc, given := a.projectOf(p, inv, args)
		there.sc = sc
		switch first(given.operands).text {
		case "run", "run-script", "test", "t", "start", "build", "install", "i", "ci", "update", "dump-autoload":
			a.runsAny(sc, p.Project)
		}
		a.projectScripts(name, p.Project, &there, given)
	}
	if files := grammarOf(a.about(name).Own.Grammar).files; files != nil {
		files(a.reader, name, inv, args)
	}
}

// programFile is the word that names the file which an interpreter runs.
func (a *analysis) programFile(name string, inv *invocation, args *arguments) word {
	words := args.operands
	project := a.about(name).Own.Project
	if project == "" || first(words).text != "run" {
		return first(words)
	}
	for words = words[1:]; strings.HasPrefix(first(words).text, "-"); words = words[1:] {
		if first(words).text == "-" {
			break
		}
	}
	a.runsAny(inv.sc, project)
	return first(words)
}

// transfer notes what a call puts into the files that it writes.
func (a *analysis) transfer(inv *invocation, name string, args *arguments, c *value.Call) {
	if len(c.Writes) == 0 && len(args.operands) == 0 {
		return
	}
	fills, args := a.fillsOf(name, args)
	switch {
	case fills == programs.Copied && len(c.Writes) > 0:
		words, to, _ := args.destination()
		var from []string
		for _, w := range words {
			from = append(from, a.fileAt(w, inv.sc))
		}
		a.transferTo(a.path(to, inv.sc), from, copied)
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
func (a *analysis) builds(inv *invocation, args *arguments, c *value.Call) {
	isWritten := func(file string) bool { return compiledSources[path.Ext(file)] && a.holdsText(file) }
	sources := a.pathsOf(args.operands, inv.sc)
	switch {
	case slices.ContainsFunc(sources, isWritten):
		a.build(slices.Concat(c.Writes, a.pathsOf(compilerOutputs(args), inv.sc))...)
	case first(args.operands).text == "build" && slices.ContainsFunc(a.writtenPaths(), isWritten):
		a.build(append(slices.Clone(c.Writes), "")...)
	}
}

// compilerOutputs are the files that a compiler may write: those that an option has in one word with itself, as in "-oNAME" and "-of=NAME",
// and those that it names after its sources, beside them or in the current folder.
func compilerOutputs(args *arguments) []word {
	all := []word{known("a.out")}
	for _, w := range args.operands {
		stem := part(w, strings.TrimSuffix(w.text, path.Ext(w.text)))
		all = append(all, stem, part(stem, path.Base(stem.text)))
	}
	for _, w := range args.all {
		attached, _ := strings.CutPrefix(w.text, "-o")
		for _, before := range []string{"", "f", "=", "f=", "ut:"} {
			if file, ok := strings.CutPrefix(attached, before); ok && attached != w.text && file != "" {
				all = append(all, part(w, file))
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
	kind := written
	switch fills {
	case programs.Unpacked:
		kind = unpackedInto
	case programs.Compiled:
		kind = compiledFrom
	}
	from := slices.Clone(c.Reads)
	for i := a.piped; i < len(a.calls)-1 && a.aside > 0 && a.spend(1); i++ {
		from = append(from, a.calls[i].Reads...)
	}
	if len(from) == 0 && !a.editsUnseen(name) {
		return
	}
	for _, to := range c.Writes {
		a.transferTo(to, from, kind)
	}
}
