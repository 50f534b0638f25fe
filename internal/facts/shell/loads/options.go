package loads

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// ReadOptions notes the files that options name.
func (ld *Loader) ReadOptions(name string, inv *call.Invocation, args *call.Arguments) {
	if len(args.Options) == 0 {
		return
	}
	options := ld.About(name).Own.Runs
	if options == nil {
		options = programs.Of(programs.Family(name)).Runs
	}
	for _, o := range args.Options {
		if !slices.Contains(options, o.Name) || ld.IsInput(o.Value, inv.Scope) {
			continue
		}
		ld.ProgramFile(name, o.Value, inv)
		if strings.Contains(o.Value.Text, ":") { // a path of several
			for file := range strings.SplitSeq(o.Value.Text, ":") {
				ld.ProgramFile(name, word.Part(o.Value, file), inv)
			}
		}
	}
}

// ReadProject notes the files that programs look for in the folder of a project.
func (ld *Loader) ReadProject(name string, inv *call.Invocation, args *call.Arguments) {
	if p := ld.About(name).Own; p.Project != "" {
		sc, given := ld.projectOf(p, inv, args)
		switch word.First(given.Operands).Text {
		case "run", "run-script", "test", "t", "start", "build", "install", "i", "ci", "update", "dump-autoload":
			ld.RunAny(sc, p.Project)
		}
		ld.ReadScripts(name, p.Project, inv.WithScope(sc), given)
	}
	if files := grammars.Of(ld.About(name).Own.Grammar).Files; files != nil {
		files(ld.reader, name, inv, args)
	}
}

// programFile is the word that names the file which an interpreter runs.
func (ld *Loader) programFile(name string, inv *call.Invocation, args *call.Arguments) word.Word {
	if file, ok := args.Value(ld.About(name).Described.ProgramIn...); ok {
		return file
	}
	words := args.Operands
	project := ld.About(name).Own.Project
	if project == "" || word.First(words).Text != "run" {
		return word.First(words)
	}
	for words = words[1:]; strings.HasPrefix(word.First(words).Text, "-"); words = words[1:] {
		if word.First(words).Text == "-" {
			break
		}
	}
	ld.RunAny(inv.Scope, project)
	return word.First(words)
}
