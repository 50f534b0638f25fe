package loads

import (
	"encoding/json"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// ReadLanguage reads what an interpreter other than a shell runs.
func (ld *Loader) ReadLanguage(name, lang string, inv *call.Invocation, args *call.Arguments) call.Result {
	out := call.Result{Out: word.Unknown(value.Taint{})}
	if module, ok := args.Value("-m"); ok && lang == "python" {
		ld.ReadModules(name, inv, []string{module.Text, module.Text + ".__main__"})
		if ld.moduleLine(name, module.Text, inv, args) {
			return out
		}
		words := languages.AfterModule(args.All)
		ld.ReadOwnFiles(module.Text, inv, call.ParseArguments(words, ld.About(module.Text).Described))
		if !ld.Supposes && programs.Starts(module.Text) { // a module does what the program of its name does
			ld.SupposeCall(name, inv, append([]word.Word{module}, words...))
		}
	}
	if script, ok := args.Value("--run"); ok && lang == "node" { // of the project's file, as npm runs it
		return ld.Inner(name, inv, []word.Word{word.Of("npm"), word.Of("run"), script})
	}
	given := ld.readGiven(name, lang, inv, args)
	if inv.In.Present && (!given && !asksOnly(lang, args) || ld.readsOn(name, args)) {
		ld.runStream(name, lang, inv, inv.In)
	}
	return out
}

// readGiven reads the program that a call of an interpreter names or spells out; it is false where there is none.
func (ld *Loader) readGiven(name, lang string, inv *call.Invocation, args *call.Arguments) bool {
	p := ld.About(name).Described
	file := ld.programFile(name, inv, args)
	isFile := file.Text != "" && !ld.IsInput(file, inv.Scope) && !namesTests(p, args, file)
	code, isSpelt := languages.InlineProgram(lang, p, isFile, args)
	if !isSpelt && isFile && len(p.Texts) > 0 && languages.IsCalled(file) {
		code, isSpelt = file, true
	}
	switch {
	case isSpelt:
		ld.ReadInline(name, lang, inv, code)
	case isFile:
		ld.runFile(name, lang, inv, file)
	}
	return isSpelt || isFile
}

// asksOnly says that a call of an interpreter without a program asks for its version or for help, or runs a module.
func asksOnly(lang string, args *call.Arguments) bool {
	return args.Has("--version", "--help") || lang == "python" && args.Has("-m") ||
		len(args.All) == 1 && args.Has("-V", "-v", "-h")
}

// readsOn says that an interpreter takes its standard input for more of its program, beside a program that it was given.
func (ld *Loader) readsOn(name string, args *call.Arguments) bool {
	p := ld.About(name).Described
	return p.Input == programs.ItsProgram && call.TakesInput(p, args)
}

func (ld *Loader) runFile(name, lang string, inv *call.Invocation, file word.Word) {
	if s, ok := ld.PseudoFile(file, inv.In, inv.Scope); ok {
		ld.runStream(name, lang, inv, s)
		return
	}
	if ld.runFolder(name, lang, inv, file) {
		return
	}
	p := ld.ScriptFile(file, inv)
	if lang == "python" {
		ld.noteShadows(name, inv, file)
	}
	for _, there := range ld.FallbackCalls(inv, file) {
		s, _ := ld.Lookup(ld.FileAt(file, there.Scope))
		ld.ReadIn(s, func() { ld.readDiskProgram(name, lang, there, s) })
	}
	ld.EachMatch(file, inv.Scope, func(file string, s word.Stream) { ld.runContent(name, lang, inv, file, s) })
	beside := *inv
	ld.Start(p, func(s word.Stream) { ld.ReadInline(name, lang, &beside, s.Word()) })
	switch s, ok := ld.Program(p, ld.FileAt(file, inv.Scope)); {
	case !ok:
		ld.readWithEnding(name, lang, inv, file)
	case s.OnDisk:
		ld.ReadIn(s, func() { ld.readDiskProgram(name, lang, inv, s) })
	case lang != "python" || !ld.isPurePython(s, inv.Scope.Folder):
		ld.ReadInline(name, lang, inv, s.Word())
	}
}

// runFolder reads the file of a folder that an interpreter runs which is given the folder.
func (ld *Loader) runFolder(name, lang string, inv *call.Invocation, folder word.Word) bool {
	at := ld.FileAt(folder, inv.Scope)
	if ld.At.Contents == nil || !(*ld.At.Contents)[at].Folder {
		return false
	}
	switch lang {
	case "python":
		ld.runFile(name, lang, inv, word.InFolder(folder, "__main__.py"))
	case "node":
		ld.ReadModuleIn(name, lang, inv, "", ld.mainOf(at))
	}
	return true
}

// mainOf is the file that a package of Node's names as its own.
func (ld *Loader) mainOf(folder string) string {
	file := folder + "/package.json"
	ld.Files = append(ld.Files, file)
	var about struct{ Main string }
	if s, ok := ld.Lookup(file); ok && json.Unmarshal([]byte(s.Text), &about) == nil && about.Main != "" {
		return folder + "/" + about.Main
	}
	return folder + "/index"
}

// runStream reads a program that flows from somewhere.
func (ld *Loader) runStream(name, lang string, inv *call.Invocation, s word.Stream) {
	ld.Run(s.Path, s.File)
	program := s
	if lang == "python" { // which looks for modules in the working folder then
		program.File = ""
		ld.shadowModules(name, inv, ld.FolderAt(word.Of("."), inv.Scope))
	}
	switch {
	case s.OnDisk:
		ld.ReadIn(s, func() { ld.readDiskProgram(name, lang, inv, program) })
	case !s.IsElsewhere():
		ld.ReadInline(name, lang, inv, s.Word())
	}
}

// isPurePython says whether a file that the text wrote is a Python program that
// starts nothing and reaches nothing: then it is like any file of the project.
func (ld *Loader) isPurePython(s word.Stream, cwd string) bool {
	if !s.Known || s.Fetched || s.Decoded || len(s.Text) > word.MaxValue {
		return false
	}
	c := ld.ReadPython(s.Text, value.Place{Workdir: cwd, Level: value.MaxLevel})
	for _, name := range c.Imports {
		if !languages.IsPure(name) {
			return false
		}
	}
	return c.Complete && c.Command == nil && len(c.Features)+len(c.Hosts)+len(c.Reads)+len(c.Writes)+len(c.Variables) == 0
}

// ReadInline reads a program of another language as far as it runs shell text.
func (ld *Loader) ReadInline(name, lang string, inv *call.Invocation, code word.Word) {
	if lang == "perl" && code.Known && languages.OnlySubstitutes(code.Text) && !slices.ContainsFunc(inv.Argv[1:], languages.IsPipe) {
		return
	}
	ld.notePackages(lang, inv, code.Text)
	read := ld.Admit(code)
	ld.NoteFeature(value.FeatureInlineProgram)
	if read && (ld.isPure(lang, inv, code) || namesConstants(lang, inv, code)) {
		ld.NoteFeature(value.FeatureReadProgram)
		return
	}
	ld.NoteRun(code.Taint)
	if read && lang == "python" {
		c := ld.runPython(name, inv, code.Text)
		if slices.Contains(inv.Assigns, "PYTHONPATH") && len(c.Imports) > 0 {
			c.Complete = false // the text chooses where they are from
		}
		ld.notePython(c)
		return
	}
	ld.NoteFeature(value.FeatureUnreadProgram)
	if !read {
		return
	}
	ld.Hosts = append(ld.Hosts, value.URLHosts(code.Text)...)
	ld.readImports(name, lang, inv, languages.LoadNames(lang, code.Text))
	commands, all := languages.ShellTexts(lang, code.Text)
	if !all {
		ld.Hide()
	}
	for _, c := range commands {
		ld.Text(name, inv, word.Of(c), inv.Scope.Fork())
	}
}

// notePython notes what a Python program in the text does. One that is in a text which another
// program runs, or which is only supposed to run, counts as unread.
func (ld *Loader) notePython(c value.Code) {
	if !c.Complete || ld.At.Level > 0 || ld.Supposes {
		ld.NoteFeature(value.FeatureUnreadProgram)
		return
	}
	c.Command = nil
	if ld.Code == nil {
		ld.Code = &c
		return
	}
	for _, list := range []struct {
		to   *[]string
		more []string
	}{
		{&ld.Code.Imports, c.Imports}, {&ld.Code.Calls, c.Calls}, {&ld.Code.Strings, c.Strings}, {&ld.Code.Variables, c.Variables},
		{&ld.Code.Hosts, c.Hosts}, {&ld.Code.Reads, c.Reads}, {&ld.Code.Writes, c.Writes}, {&ld.Code.Touches, c.Touches},
		{&ld.Code.Settings, c.Settings}, {&ld.Code.Loses, c.Loses}, {&ld.Code.Features, c.Features}, {&ld.Code.Loads, c.Loads},
	} {
		*list.to = value.Sorted(slices.Concat(*list.to, list.more))
	}
}

// runPython takes over what a Python program does, and returns it.
func (ld *Loader) runPython(name string, inv *call.Invocation, code string) value.Code {
	around := ld.Around()
	c := ld.ReadPython(code, value.Place{Workdir: inv.Scope.Folder, Astray: inv.Scope.Astray, Home: ld.At.Home, Level: ld.At.Level + 1,
		Contents: ld.At.Contents, Ground: ld.At.Ground, Within: &around, Settled: ld.Settled, Fresh: languages.IsFreshPython(name, inv)})
	switch {
	case c.Command != nil && !c.Command.Complete: // a young file that the program runs is among what hides it
		ld.Complete = ld.Complete && ld.Idle
	case !c.Complete:
		ld.Hide()
	}
	ld.ReadModules(name, inv, slices.Concat(c.Imports, slices.DeleteFunc(c.Members, languages.IsStandard)))
	for _, folder := range c.Folders {
		for _, module := range c.Imports {
			ld.ReadModuleIn(name, "python", inv, ld.FileAt(word.Of(folder), inv.Scope), module)
		}
	}
	ld.NoteRun(value.Taint{Fetched: slices.Contains(c.Features, value.FeatureDownloadAndRun), Decoded: slices.Contains(c.Features,
		value.FeatureDecodeAndRun)})
	ld.AddToCall(inv.Number, c.Reads, c.Writes)
	for _, p := range c.Writes {
		ld.Rewrite(p, "")
	}
	ld.Hosts, ld.Variables = append(ld.Hosts, c.Hosts...), append(ld.Variables, c.Variables...)
	ld.Settings, ld.Loses = append(ld.Settings, c.Settings...), append(ld.Loses, c.Loses...)
	ld.Given = append(ld.Given, c.Origins...)
	for _, f := range c.Features {
		if value.OfEveryText[f] {
			ld.NoteFeature(f)
		}
	}
	if c.Command != nil {
		ld.TakeReading(c.Command, append(slices.Clip(inv.Wrappers), name))
	}
	return c
}

// TakeReading adds the facts of a shell text that was read by itself.
func (ld *Loader) TakeReading(c *value.Command, wrappers []string) {
	ld.Take(c, wrappers)
	if c.Supposed != nil {
		ld.Suppose(c.Supposed, wrappers)
	}
}

// ReadStream reads the shell text of a stream.
func (ld *Loader) ReadStream(name string, inv *call.Invocation, s word.Stream, sc *state.Scope) (r call.Result) {
	ld.ReadIn(s, func() { sc.InFile(s, func() { r = ld.Text(name, inv, s.Word(), sc) }) })
	return r
}

// ScriptFile is the path of a file that is run; one that is not known hides what runs.
func (ld *Loader) ScriptFile(file word.Word, inv *call.Invocation) string {
	if _, ok := call.ProgramName(file); !ok {
		ld.NoteRun(file.Taint)
		ld.Hide()
	}
	return ld.RunFile(file, inv.Scope)
}
