package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// tests reads the files of tests that a call runs: those that operands name by a path, of which what
// follows "::" names a test, or as a module; those in the folders that operands name; and where none is named
// those below the current one, as where an operand may pick tests by a part of their names.
func (a *analysis) tests(name string, p *programs.Program, inv *invocation, args *arguments) {
	if p.Tests == "" || len(p.TestsFor) > 0 && !args.has(p.TestsFor...) && !slices.Contains(p.TestsFor, first(args.operands).text) {
		return
	}
	there := *inv
	there.sc, args = a.projectOf(p, inv, args)
	run := func(file string, s stream) { a.runsContent(name, p.Tests, &there, file, s) }
	words := args.operands
	if word := first(words).text; word == "discover" || slices.Contains(p.TestsFor, word) {
		words = words[1:]
	}
	picked := false
	for _, w := range words {
		file, _, _ := strings.Cut(w.text, "::")
		switch {
		case !w.known || strings.HasPrefix(file, "-") || !a.spend(1):
		case path.Ext(file) != "" && strings.Contains(file, "/") || strings.HasSuffix(file, ".py") || strings.HasSuffix(file, ".t"):
			a.languageFile(name, p.Tests, &there, part(w, file))
			a.gather(p.Gathers[len(p.Gathers)-1:], part(w, path.Dir(file)), there.sc, run)
		default:
			if !strings.Contains(file, "/") {
				a.importsFound(name, p.Tests, &there, []string{file})
			}
			a.gather(p.Gathers, part(w, file), there.sc, run)
			picked = picked || p.Picks
		}
	}
	if len(words) == 0 || picked {
		a.gather(p.Gathers, known("."), there.sc, run)
	} else if len(p.Gathers) > 1 { // beside those that are named, the project's own
		a.gather(p.Gathers[len(p.Gathers)-1:], known("."), there.sc, run)
	}
	if plugin, ok := args.value("-p"); ok && plugin.known {
		a.importsFound(name, p.Tests, &there, []string{plugin.text})
	}
}

// runsContent reads a file of a language. One that has none of its own says in its first line what runs it.
func (a *analysis) runsContent(name, lang string, inv *invocation, file string, s stream) {
	started := *inv
	started.argv = []word{known(file)}
	switch {
	case lang == "" && s.found:
		a.startsFound(&started, file, s)
	case lang == "":
		a.startsFile(&started, file, s)
	case s.found:
		a.foundProgram(name, lang, inv, s)
	case lang != "python" || !a.onlyComputes(s, inv.sc.cwd):
		a.inline(name, lang, inv, s.word())
	}
}

// startsAll reads the programs that are started in the folders that operands name.
func (a *analysis) startsAll(name string, inv *invocation, args *arguments) {
	p := a.about(name).Own
	if len(p.Gathers) == 0 || p.Tests != "" {
		return
	}
	for _, w := range args.operands {
		a.gather(p.Gathers, w, inv.sc, func(file string, s stream) { a.runsContent(name, "", inv, file, s) })
	}
}

// languagesOf are the languages that the ending of a file's name tells.
var languagesOf = map[string]string{".py": "python", ".js": "node", ".cjs": "node", ".mjs": "node", ".ts": "node", ".mts": "node",
	".cts": "node", ".pl": "perl", ".rb": "ruby", ".sh": "shell"}

// finds reads the files of the current folder that a program runs by itself, where they were made lately: older ones are a
// part of the project like any other. A call that only looks into what it names runs nothing.
func (a *analysis) finds(name string, inv *invocation, args *arguments) {
	p := a.about(name).Own
	if len(p.Finds)+len(p.Verbs)+len(p.Sources) == 0 || onlyAsks(args) || args.has(p.ReadsOnly...) {
		return
	}
	there := *inv
	there.sc, args = a.projectOf(p, inv, args)
	verb := first(args.operands).text
	if len(p.FindsFor) == 0 || slices.Contains(p.FindsFor, verb) {
		a.findsAll(name, p, &there, args)
	}
	if slices.Contains(p.Verbs, verb) {
		a.findsAll(name, programs.Of(name+" "+verb), &there, args)
	}
}

// onlyAsks says that a call only asks for a version or for help. The short options mean that alone: beside others they may
// mean anything, as in "rpm -ivh".
func onlyAsks(args *arguments) bool {
	return args.has("--version", "--help") || len(args.all) == 1 && (args.all[0].text == "-V" || args.all[0].text == "-h")
}

// findsAll reads the files of an entry: sources that operands name, and those that the program finds.
func (a *analysis) findsAll(name string, p *programs.Program, inv *invocation, args *arguments) {
	for _, w := range args.operands {
		if slices.Contains(p.Sources, path.Ext(w.text)) {
			a.runsSource(name, p, inv, w)
		} else if a.isBuilt(a.path(w, inv.sc)) { // "java Main"
			a.hide()
		}
	}
	named := false
	for i, w := range args.all[:max(0, len(args.all)-1)] {
		if slices.Contains(namesOwnFile, w.text) {
			a.findsFile(name, p, inv, args.all[i+1])
			named = p.Options == nil // else the option may be another one
		}
	}
	for _, file := range p.Finds {
		if !named {
			a.findsFile(name, p, inv, known(file))
		}
	}
	if len(p.Folders) > 0 {
		a.findsInFolders(name, p, inv, args)
	}
}

// findsInFolders reads what a program finds in folders that a call names, itself or by a list.
func (a *analysis) findsInFolders(name string, p *programs.Program, inv *invocation, args *arguments) {
	folders := slices.Clone(after(args.operands, 1))
	for _, o := range args.options {
		if slices.Contains(p.Folders, o.name) {
			folders = append(folders, o.value)
		}
		if a.about(name).Described.Options[o.name] == programs.FileRead {
			a.seeksFile(o.value, inv.sc)
			list, _ := a.programIn(o.value, inv.in, inv.sc)
			for line := range strings.SplitSeq(list.text, "\n") {
				folders = append(folders, part(o.value, listedFolder(line)))
			}
		}
	}
	for _, w := range folders {
		w.text = strings.TrimPrefix(strings.TrimPrefix(w.text, "file:"), "//")
		for _, file := range p.Finds {
			if (rooted(w.text) || strings.HasPrefix(w.text, ".")) && w.text != "." && a.spend(1) {
				a.findsFile(name, p, inv, inFolder(w, file))
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

// runsSource reads a source that a program compiles and runs at once, if it was found in a file.
func (a *analysis) runsSource(name string, p *programs.Program, inv *invocation, w word) {
	a.runsEach(w, inv.sc, func(_ string, s stream) { a.ran(s.Taint) })
	at := a.runsFile(w, inv.sc)
	if s, ok := a.runnable(at, a.fileAt(w, inv.sc)); ok && s.found {
		a.reading(s, func() { a.foundProgram(name, cmp.Or(languagesOf[path.Ext(w.text)], p.Holds), inv, s) })
	} else if ok && compiledSources[path.Ext(w.text)] {
		a.hidesFound(name, "", inv, s)
	}
}

// compiledSources are the endings of sources in languages that are not read.
var compiledSources = value.SetOf(`.go .java .kt .kts .rs .swift .zig .cr .nim .nims .d .v .c .cc .cpp .cxx .cu .m .mm .scala .sc .dart .cs
	.csx .hs .ml .lisp .lsp .pas .f .f90 .f95 .adb .cob .cbl`)

// namesOwnFile are options by which programs are given another file than those that they find.
var namesOwnFile = []string{"-f", "--file", "-c", "--config", "--justfile", "--rakefile", "--taskfile", "--procfile", "--build-file",
	"-P"}

// findsFile reads a file that a program finds, or those of a pattern.
func (a *analysis) findsFile(name string, p *programs.Program, inv *invocation, file word) {
	run := func(file string, s stream) {
		if !slices.ContainsFunc(p.Without, func(end string) bool { return strings.HasSuffix(file, end) }) {
			a.foundItself(name, p, inv, s)
		}
	}
	at := a.fileAt(file, inv.sc)
	if wild(file.text) {
		a.gatherBy(file, inv.sc, run)
		return
	}
	a.runsPath(at) // a part of the project, like a makefile
	if s, ok := a.runnable(a.path(file, inv.sc), at); ok {
		a.reading(s, func() { run(at, s) })
	}
}

// foundItself reads a file that a program found by itself.
func (a *analysis) foundItself(name string, p *programs.Program, inv *invocation, s stream) {
	lang := cmp.Or(languagesOf[path.Ext(cmp.Or(s.file, s.path))], p.Holds)
	switch {
	case s.settled:
	case !s.known:
		a.hide()
	case p.Plain.All(s.text):
	case p.Escapes.Regexp != nil:
		for _, found := range p.Escapes.FindAllStringSubmatch(s.text, maxItems) {
			a.text(name, inv, word{text: found[1], known: true, Taint: s.Taint}, inv.sc.fork())
		}
	case lang == "node" && a.nodeSettings(name, inv, s):
	case lang == "python":
		a.foundProgram(name, lang, inv, s)
	default: // what it gets from the program may do anything
		a.hidesFound(name, lang, inv, s)
	}
}

// formerly are the calls that a call may be if a change of folder before it failed: those whose file is there.
func (a *analysis) formerly(inv *invocation, file word) (calls []*invocation) {
	if a.at.Contents == nil || rooted(file.text) || inv.sc.astray || len(inv.sc.mounts) > 0 {
		return nil
	}
	for _, folder := range inv.sc.former {
		sc := inv.sc.fork()
		sc.cwd, sc.former = folder, nil
		if _, ok := a.foundIn(a.fileAt(file, sc)); ok && folder != inv.sc.cwd {
			call := *inv
			call.sc, call.argv = sc, slices.Clip(inv.argv)
			calls = append(calls, &call)
		}
	}
	return calls
}
