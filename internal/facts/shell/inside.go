package shell

import (
	"encoding/json"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// language reads what an interpreter other than a shell runs.
func (a *analysis) language(name, lang string, inv *call.Invocation, args *call.Arguments) call.Result {
	out := call.Result{Out: word.Unknown(value.Taint{})}
	if module, ok := args.Value("-m"); ok && lang == "python" {
		a.modules(name, inv, []string{module.Text, module.Text + ".__main__"})
		if a.moduleLine(name, module.Text, inv, args) {
			return out
		}
		a.finds(module.Text, inv, call.ParseArguments(languages.AfterModule(args.All), a.about(module.Text).Described))
	}
	if script, ok := args.Value("--run"); ok && lang == "node" { // of the project's file, as npm runs it
		return a.Inner(name, inv, []word.Word{word.Of("npm"), word.Of("run"), script})
	}
	if code, ok := languages.InlineProgram(lang, args); ok {
		a.inline(name, lang, inv, code)
		return out
	}
	if file := a.programFile(name, inv, args); file.Text != "" && !a.IsInput(file, inv.Scope) {
		a.languageFile(name, lang, inv, file)
		return out
	}
	if inv.In.Present && !args.Has("-m", "-V", "--version", "-v", "-h", "--help") {
		a.languageStream(name, lang, inv, inv.In)
	}
	return out
}

func (a *analysis) languageFile(name, lang string, inv *call.Invocation, file word.Word) {
	if s, ok := a.PseudoFile(file, inv.In, inv.Scope); ok {
		a.languageStream(name, lang, inv, s)
		return
	}
	if a.folderToRun(name, lang, inv, file) {
		return
	}
	p := a.fileToRun(file, inv)
	if lang == "python" {
		a.beside(name, inv, file)
	}
	for _, there := range a.formerly(inv, file) {
		s, _ := a.Lookup(a.FileAt(file, there.Scope))
		a.ReadIn(s, func() { a.foundProgram(name, lang, there, s) })
	}
	a.EachMatch(file, inv.Scope, func(file string, s word.Stream) { a.runsContent(name, lang, inv, file, s) })
	beside := *inv
	a.starts(p, func(s word.Stream) { a.inline(name, lang, &beside, s.Word()) })
	switch s, ok := a.Program(p, a.FileAt(file, inv.Scope)); {
	case !ok:
		a.endings(name, lang, inv, file)
	case s.OnDisk:
		a.ReadIn(s, func() { a.foundProgram(name, lang, inv, s) })
	case lang != "python" || !a.onlyComputes(s, inv.Scope.Folder):
		a.inline(name, lang, inv, s.Word())
	}
}

// folderToRun reads the file of a folder that an interpreter runs which is given the folder.
func (a *analysis) folderToRun(name, lang string, inv *call.Invocation, folder word.Word) bool {
	at := a.FileAt(folder, inv.Scope)
	if a.At.Contents == nil || !(*a.At.Contents)[at].Folder {
		return false
	}
	switch lang {
	case "python":
		a.languageFile(name, lang, inv, word.InFolder(folder, "__main__.py"))
	case "node":
		a.importsFrom(name, lang, inv, "", a.mainOf(at))
	}
	return true
}

// mainOf is the file that a package of Node's names as its own.
func (a *analysis) mainOf(folder string) string {
	file := folder + "/package.json"
	a.Files = append(a.Files, file)
	var about struct{ Main string }
	if s, ok := a.Lookup(file); ok && json.Unmarshal([]byte(s.Text), &about) == nil && about.Main != "" {
		return folder + "/" + about.Main
	}
	return folder + "/index"
}

// languageStream reads a program that flows from somewhere.
func (a *analysis) languageStream(name, lang string, inv *call.Invocation, s word.Stream) {
	a.Run(s.Path, s.File)
	program := s
	if lang == "python" { // which looks for modules in the working folder then
		program.File = ""
		a.library(name, inv, a.FolderAt(word.Of("."), inv.Scope))
	}
	switch {
	case s.OnDisk:
		a.ReadIn(s, func() { a.foundProgram(name, lang, inv, program) })
	case !s.IsElsewhere():
		a.inline(name, lang, inv, s.Word())
	}
}

// onlyComputes says whether a file that the text wrote is a Python program that
// starts nothing and reaches nothing: then it is like any file of the project.
func (a *analysis) onlyComputes(s word.Stream, cwd string) bool {
	if !s.Known || s.Fetched || s.Decoded || len(s.Text) > word.MaxValue {
		return false
	}
	c := a.readPython(s.Text, value.Place{Workdir: cwd, Level: value.MaxLevel})
	for _, name := range c.Imports {
		if !languages.IsPure(name) {
			return false
		}
	}
	return c.Complete && c.Command == nil && len(c.Features)+len(c.Hosts)+len(c.Reads)+len(c.Writes)+len(c.Variables) == 0
}

// inline reads a program of another language as far as it runs shell text.
func (a *analysis) inline(name, lang string, inv *call.Invocation, code word.Word) {
	if lang == "perl" && code.Known && languages.OnlySubstitutes(code.Text) && !slices.ContainsFunc(inv.Argv[1:], languages.IsPipe) {
		return
	}
	a.packages(lang, inv, code.Text)
	read := a.Admit(code)
	a.NoteFeature(value.FeatureInlineProgram)
	if read && a.computes(lang, inv, code) {
		a.NoteFeature(value.FeatureReadProgram)
		return
	}
	a.NoteRun(code.Taint)
	if read && lang == "python" {
		c := a.python(name, inv, code.Text)
		if slices.Contains(inv.Assigns, "PYTHONPATH") && len(c.Imports) > 0 {
			c.Complete = false // the text chooses where they are from
		}
		a.programs(c)
		return
	}
	a.NoteFeature(value.FeatureUnreadProgram)
	if !read {
		return
	}
	a.Hosts = append(a.Hosts, value.URLHosts(code.Text)...)
	a.importsFound(name, lang, inv, languages.LoadNames(lang, code.Text))
	commands, all := languages.ShellTexts(lang, code.Text)
	if !all {
		a.Hide()
	}
	for _, c := range commands {
		a.Text(name, inv, word.Of(c), inv.Scope.Fork())
	}
}

// programs notes what a Python program in the text does. One that is in a text which another
// program runs, or which is only supposed to run, counts as unread.
func (a *analysis) programs(c value.Code) {
	if !c.Complete || a.At.Level > 0 || a.supposes {
		a.NoteFeature(value.FeatureUnreadProgram)
		return
	}
	c.Command = nil
	if a.Code == nil {
		a.Code = &c
		return
	}
	for _, list := range []struct {
		to   *[]string
		more []string
	}{
		{&a.Code.Imports, c.Imports}, {&a.Code.Calls, c.Calls}, {&a.Code.Strings, c.Strings}, {&a.Code.Variables, c.Variables},
		{&a.Code.Hosts, c.Hosts}, {&a.Code.Reads, c.Reads}, {&a.Code.Writes, c.Writes}, {&a.Code.Settings, c.Settings},
		{&a.Code.Loses, c.Loses}, {&a.Code.Features, c.Features},
	} {
		*list.to = value.Sorted(slices.Concat(*list.to, list.more))
	}
}

// python takes over what a Python program does, and returns it.
func (a *analysis) python(name string, inv *call.Invocation, code string) value.Code {
	around := a.Around()
	c := a.readPython(code, value.Place{Workdir: inv.Scope.Folder, Astray: inv.Scope.Astray, Home: a.At.Home, Level: a.At.Level + 1,
		Contents: a.At.Contents, Ground: a.At.Ground, Within: &around, Settled: a.Settled, Fresh: languages.IsFreshPython(name, inv)})
	switch {
	case c.Command != nil && !c.Command.Complete: // a young file that the program runs is among what hides it
		a.Complete = a.Complete && a.Idle
	case !c.Complete:
		a.Hide()
	}
	a.modules(name, inv, slices.Concat(c.Imports, slices.DeleteFunc(c.Members, languages.IsStandard)))
	for _, folder := range c.Folders {
		for _, module := range c.Imports {
			a.importsFrom(name, "python", inv, a.FileAt(word.Of(folder), inv.Scope), module)
		}
	}
	a.NoteRun(value.Taint{Fetched: slices.Contains(c.Features, value.FeatureDownloadAndRun), Decoded: slices.Contains(c.Features,
		value.FeatureDecodeAndRun)})
	a.AddToCall(inv.Number, c.Reads, c.Writes)
	for _, p := range c.Writes {
		a.Rewrite(p, "")
	}
	a.Hosts, a.Variables = append(a.Hosts, c.Hosts...), append(a.Variables, c.Variables...)
	a.Settings, a.Loses = append(a.Settings, c.Settings...), append(a.Loses, c.Loses...)
	for _, f := range c.Features {
		if value.OfEveryText[f] {
			a.NoteFeature(f)
		}
	}
	if c.Command != nil {
		a.take(c.Command, append(slices.Clip(inv.Wrappers), name))
	}
	return c
}

// take adds the facts of a shell text that was read by itself.
func (a *analysis) take(c *value.Command, wrappers []string) {
	for _, call := range c.Calls {
		if len(a.Calls) >= value.MaxCalls || !a.Spend(1) {
			a.Complete = false
			break
		}
		call.Wrappers = append(slices.Clip(wrappers), call.Wrappers...)
		a.Calls = append(a.Calls, state.Record{Call: call})
	}
	for _, f := range c.Features {
		a.NoteFeature(f)
	}
	if c.Supposed != nil {
		a.supposing().take(c.Supposed, wrappers)
	}
	a.Hosts, a.Reads, a.Writes = append(a.Hosts, c.Hosts...), append(a.Reads, c.Reads...), append(a.Writes, c.Writes...)
	a.Settings, a.Loses = append(a.Settings, c.Settings...), append(a.Loses, c.Loses...)
	a.Variables, a.Assigns, a.Files = append(a.Variables, c.Variables...), append(a.Assigns, c.Assigns...), append(a.Files, c.Files...)
	a.LookUps = append(a.LookUps, c.Opens...)
}
