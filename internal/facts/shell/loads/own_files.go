package loads

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// ReadTests reads the files of tests that a call runs: those that operands name by a path, of which what
// follows "::" names a test, or as a module; those in the folders that operands name; and where none is named
// those below the current one, as where an operand may pick tests by a part of their names.
func (ld *Loader) ReadTests(name string, p *programs.Program, inv *call.Invocation, args *call.Arguments) {
	if p.Tests == "" || len(p.TestsFor) > 0 && !args.Has(p.TestsFor...) && !slices.Contains(p.TestsFor, word.First(args.Operands).Text) {
		return
	}
	there := *inv
	there.Scope, args = ld.projectOf(p, inv, args)
	run := func(file string, s word.Stream) { ld.runContent(name, p.Tests, &there, file, s) }
	words := args.Operands
	if word := word.First(words).Text; word == "discover" || slices.Contains(p.TestsFor, word) {
		words = words[1:]
	}
	picked := false
	for _, w := range words {
		file, _, _ := strings.Cut(w.Text, "::")
		switch {
		case !w.Known || strings.HasPrefix(file, "-") || !ld.Spend(1):
		case namesMany(w): // each of which is one of these tests
			ld.EachMatch(word.Part(w, file), there.Scope, func(file string, s word.Stream) {
				if p.Tests == "python" {
					ld.shadowModules(name, &there, path.Dir(file))
				}
				run(file, s)
			})
			ld.hideFetched(word.Part(w, path.Dir(file)), &there)
			ld.Gather(p.Gathers[len(p.Gathers)-1:], word.Part(w, path.Dir(file)), there.Scope, run)
		case path.Ext(file) != "" && strings.Contains(file, "/") || strings.HasSuffix(file, ".py") || strings.HasSuffix(file, ".t"):
			ld.runFile(name, p.Tests, &there, word.Part(w, file))
			ld.Gather(p.Gathers[len(p.Gathers)-1:], word.Part(w, path.Dir(file)), there.Scope, run)
		default:
			if !strings.Contains(file, "/") {
				ld.readImports(name, p.Tests, &there, []string{file})
			}
			ld.Gather(p.Gathers, word.Part(w, file), there.Scope, run)
			if args.Has(p.TestsFor...) { // all in the folder are tests
				ld.hideFetched(word.Part(w, file), &there)
				ld.Gather(everyScript, word.Part(w, file), there.Scope, run)
			}
			picked = picked || p.Picks
		}
	}
	if len(words) == 0 || picked {
		ld.Gather(p.Gathers, word.Of("."), there.Scope, run)
	} else if len(p.Gathers) > 1 { // beside those that are named, the project's own
		ld.Gather(p.Gathers[len(p.Gathers)-1:], word.Of("."), there.Scope, run)
	}
	if plugin, ok := args.Value("-p"); ok && plugin.Known {
		ld.readImports(name, p.Tests, &there, []string{plugin.Text})
	}
}

// everyScript are the files that a runner of tests which is an interpreter runs in a folder, and what may name another one.
var everyScript = []string{"**/*.[jt]s", "**/*.[cm][jt]s", "**/package.json"}

// hideFetched notes that files of a folder, whose text is not known, are run.
func (ld *Loader) hideFetched(folder word.Word, inv *call.Invocation) {
	if ld.IsDownloaded(path.Join(ld.Path(folder, inv.Scope), "a")) {
		ld.Hide()
	}
}

// namesMany says that a word is a pattern for names that the shell finds, none of which can look like an option.
func namesMany(w word.Word) bool {
	return w.Known && w.Glob && word.HasWildcard(w.Text) && !strings.ContainsAny(w.Text[:1], "*?[-{")
}

// namesTests says that the first operand of an interpreter is no program but a folder of tests, or a pattern for files of them.
func namesTests(p *programs.Program, args *call.Arguments, first word.Word) bool {
	return len(p.TestsFor) > 0 && args.Has(p.TestsFor...) && (first.Known && strings.HasSuffix(first.Text, "/") || namesMany(first))
}

// runContent reads a file of a language. One that has none of its own says in its first line what runs it.
func (ld *Loader) runContent(name, lang string, inv *call.Invocation, file string, s word.Stream) {
	started := *inv
	started.Argv = []word.Word{word.Of(file)}
	switch {
	case lang == "" && s.OnDisk:
		ld.startDiskFile(&started, file, s)
	case lang == "":
		ld.startOwnFile(&started, file, s)
	case s.OnDisk:
		ld.readDiskProgram(name, lang, inv, s)
	case lang != "python" || !ld.isPurePython(s, inv.Scope.Folder):
		ld.ReadInline(name, lang, inv, s.Word())
	}
}

// ReadFolders reads the programs that are started in the folders that operands name.
func (ld *Loader) ReadFolders(name string, inv *call.Invocation, args *call.Arguments) {
	p := ld.About(name).Own
	if len(p.Gathers) == 0 || p.Tests != "" {
		return
	}
	for _, w := range args.Operands {
		ld.Gather(p.Gathers, w, inv.Scope, func(file string, s word.Stream) { ld.runContent(name, "", inv, file, s) })
	}
}

// ReadOwnFiles reads the files of the current folder that a program runs by itself, where they were made lately: older ones are a
// part of the project like any other. A call that only looks into what it names runs nothing.
func (ld *Loader) ReadOwnFiles(name string, inv *call.Invocation, args *call.Arguments) {
	p := ld.About(name).Own
	if len(p.Finds)+len(p.Verbs)+len(p.Sources) == 0 || onlyAsks(args) || args.Has(p.ReadsOnly...) {
		return
	}
	sc, args := ld.projectOf(p, inv, args)
	verb := word.First(args.Operands).Text
	if len(p.FindsFor) == 0 || slices.Contains(p.FindsFor, verb) {
		ld.findAll(name, p, inv.WithScope(sc), args)
	}
	if slices.Contains(p.Verbs, verb) {
		ld.findAll(name, programs.Of(name+" "+verb), inv.WithScope(sc), args)
	}
}

// onlyAsks says that a call only asks for a version or for help. The short options mean that alone: beside others they may
// mean anything, as in "rpm -ivh".
func onlyAsks(args *call.Arguments) bool {
	return args.Has("--version", "--help") || len(args.All) == 1 && (args.All[0].Text == "-V" || args.All[0].Text == "-h")
}

// findAll reads the files of an entry: sources that operands name, and those that the program finds.
func (ld *Loader) findAll(name string, p *programs.Program, inv *call.Invocation, args *call.Arguments) {
	for _, w := range args.Operands {
		if slices.Contains(p.Sources, path.Ext(w.Text)) {
			ld.runSource(name, p, inv, w)
		} else if ld.IsBuilt(ld.Path(w, inv.Scope)) { // "java Main"
			ld.Hide()
		}
	}
	named := false
	for i, w := range args.All {
		option, file, isAttached := strings.Cut(w.Text, "=")
		given := word.Part(w, file)
		if !isAttached {
			given = word.First(args.All[i+1:])
		}
		if NamesOwnFile(p, option) && given.Text != "" {
			ld.findFile(name, p, inv, given)
			named = p.Options == nil // else the option may be another one
		}
	}
	for _, file := range p.Finds {
		if !named {
			ld.findFile(name, p, inv, word.Of(file))
		}
	}
	if len(p.Folders) > 0 {
		ld.findInFolders(name, p, inv, args)
	}
}

// findInFolders reads what a program finds in folders that a call names, itself or by a list.
func (ld *Loader) findInFolders(name string, p *programs.Program, inv *call.Invocation, args *call.Arguments) {
	folders := slices.Clone(word.After(args.Operands, 1))
	for _, o := range args.Options {
		if slices.Contains(p.Folders, o.Name) {
			folders = append(folders, o.Value)
		}
		if ld.About(name).Described.Options[o.Name] == programs.FileRead {
			ld.Seek(o.Value, inv.Scope)
			list, _ := ld.ProgramIn(o.Value, inv.In, inv.Scope)
			for line := range strings.SplitSeq(list.Text, "\n") {
				folders = append(folders, word.Part(o.Value, listedFolder(line)))
			}
		}
	}
	for _, w := range folders {
		w.Text = strings.TrimPrefix(strings.TrimPrefix(w.Text, "file:"), "//")
		for _, file := range p.Finds {
			if (word.IsRooted(w.Text) || strings.HasPrefix(w.Text, ".")) && w.Text != "." && ld.Spend(1) {
				ld.findFile(name, p, inv, word.InFolder(w, file))
			}
		}
	}
}

// listedFolder is what a line of a list may name a folder by: behind an option, behind "@", or alone.
func listedFolder(line string) string {
	words := strings.Fields(line)
	switch {
	case len(words) > 1 && strings.HasPrefix(words[0], "-"):
		return words[1]
	case len(words) > 2 && words[1] == "@":
		return words[2]
	case len(words) > 0:
		_, file, named := strings.Cut(words[0], "@file:")
		if named {
			return file
		}
		return words[0]
	}
	return ""
}

// runSource reads a source that a program compiles and runs at once, if it was found in a file.
func (ld *Loader) runSource(name string, p *programs.Program, inv *call.Invocation, w word.Word) {
	ld.EachMatch(w, inv.Scope, func(_ string, s word.Stream) { ld.NoteRun(s.Taint) })
	at := ld.RunFile(w, inv.Scope)
	switch s, ok := ld.Program(at, ld.FileAt(w, inv.Scope)); {
	case !ok, computes(w.Text, s):
	case s.OnDisk:
		ld.ReadIn(s, func() { ld.readDiskProgram(name, cmp.Or(languages.LanguageOf(w.Text), p.Holds), inv, s) })
	case languages.IsCompiled(w.Text):
		ld.hideProgram(name, "", inv, s)
	}
}

// NamesOwnFile says that by an option a program is given another file than those that it finds.
func NamesOwnFile(p *programs.Program, option string) bool {
	return slices.Contains(namesOwnFile, option) || len(p.Finds) > 0 && slices.Contains(p.Runs, option)
}

// namesOwnFile are such options of many programs.
var namesOwnFile = []string{"-f", "--file", "-c", "--config", "--justfile", "--rakefile", "--taskfile", "--procfile", "--build-file",
	"-P"}

// findFile reads a file that a program finds, or those of a pattern.
func (ld *Loader) findFile(name string, p *programs.Program, inv *call.Invocation, file word.Word) {
	run := func(file string, s word.Stream) {
		if !slices.ContainsFunc(p.Without, func(end string) bool { return strings.HasSuffix(file, end) }) {
			ld.readOwnFile(name, p, inv, file, s)
		}
	}
	at := ld.FileAt(file, inv.Scope)
	if word.HasWildcard(file.Text) {
		ld.GatherBy(file, inv.Scope, run)
		return
	}
	ld.RunPath(at) // a part of the project, like a makefile
	if s, ok := ld.Program(ld.Path(file, inv.Scope), at); ok {
		ld.ReadIn(s, func() { run(at, s) })
	}
}

// readOwnFile reads a file that a program found by itself.
func (ld *Loader) readOwnFile(name string, p *programs.Program, inv *call.Invocation, file string, s word.Stream) {
	lang := cmp.Or(languages.LanguageOf(cmp.Or(s.File, s.Path)), p.Holds)
	switch {
	case s.Settled:
	case !s.Known:
		ld.Hide()
	case p.Plain.All(s.Text):
	case p.Escapes.Regexp != nil:
		for _, found := range p.Escapes.FindAllStringSubmatch(s.Text, word.MaxItems) {
			ld.Text(name, inv, word.Word{Text: found[1], Known: true, Taint: s.Taint}, inv.Scope.Fork())
		}
	case computes(file, s):
	case lang == "node" && ld.nodeSettings(name, inv, s):
	case lang == "python":
		ld.readDiskProgram(name, lang, inv, s)
	default: // what it gets from the program may do anything
		ld.hideProgram(name, lang, inv, s)
	}
}

// FallbackCalls are the calls that a call may be if a change of folder before it failed: those whose file is there.
func (ld *Loader) FallbackCalls(inv *call.Invocation, file word.Word) (calls []*call.Invocation) {
	if ld.At.Contents == nil || word.IsRooted(file.Text) || inv.Scope.Astray || len(inv.Scope.Mounts) > 0 {
		return nil
	}
	for _, folder := range inv.Scope.Fallbacks {
		sc := inv.Scope.Fork()
		sc.Folder, sc.Fallbacks = folder, nil
		if _, ok := ld.Lookup(ld.FileAt(file, sc)); ok && folder != inv.Scope.Folder {
			call := *inv
			call.Scope, call.Argv = sc, slices.Clip(inv.Argv)
			calls = append(calls, &call)
		}
	}
	return calls
}
