package shell

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// language reads what an interpreter other than a shell runs.
func (a *analysis) language(name, lang string, inv *invocation, args *arguments) result {
	out := result{out: unknown(value.Taint{})}
	if module, ok := args.value("-m"); ok && lang == "python" {
		a.modules(name, inv, []string{module.text, module.text + ".__main__"})
		if a.moduleLine(name, module.text, inv, args) {
			return out
		}
		a.finds(module.text, inv, parseArguments(afterModule(args.all), a.about(module.text).Described))
	}
	if script, ok := args.value("--run"); ok && lang == "node" { // of the project's file, as npm runs it
		return a.inner(name, inv, []word{known("npm"), known("run"), script})
	}
	if code, ok := inlineProgram(lang, args); ok {
		a.inline(name, lang, inv, code)
		return out
	}
	if file := a.programFile(name, inv, args); file.text != "" && !a.isInput(file, inv.sc) {
		a.languageFile(name, lang, inv, file)
		return out
	}
	if inv.in.present && !args.has("-m", "-V", "--version", "-v", "-h", "--help") {
		a.languageStream(name, lang, inv, inv.in)
	}
	return out
}

func inlineProgram(lang string, args *arguments) (word, bool) {
	switch lang {
	case "python":
		return args.value("-c")
	case "perl", "ruby", "lua", "Rscript", "osascript":
		return args.value("-e", "-E")
	case "node":
		if len(args.operands) > 1 && args.operands[0].text == "eval" {
			return args.operands[1], true
		}
		code, ok := args.value("-e", "--eval", "-p", "--print")
		if ok && code.text == "e" && len(args.operands) > 0 { // "-pe CODE"
			return args.operands[0], true
		}
		return code, ok
	case "php":
		return args.value("-r")
	case "pwsh":
		return join(args.operands, " "), args.has("-c", "-Command", "-EncodedCommand")
	}
	return args.value(programs.Of(lang).Texts...)
}

func (a *analysis) languageFile(name, lang string, inv *invocation, file word) {
	if s, ok := a.hands(file, inv.in, inv.sc); ok {
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
		s, _ := a.foundIn(a.fileAt(file, there.sc))
		a.reading(s, func() { a.foundProgram(name, lang, there, s) })
	}
	a.runsEach(file, inv.sc, func(file string, s stream) { a.runsContent(name, lang, inv, file, s) })
	beside := *inv
	a.starts(p, func(s stream) { a.inline(name, lang, &beside, s.word()) })
	switch s, ok := a.runnable(p, a.fileAt(file, inv.sc)); {
	case !ok:
		a.endings(name, lang, inv, file)
	case s.found:
		a.reading(s, func() { a.foundProgram(name, lang, inv, s) })
	case lang != "python" || !a.onlyComputes(s, inv.sc.cwd):
		a.inline(name, lang, inv, s.word())
	}
}

// folderToRun reads the file of a folder that an interpreter runs which is given the folder.
func (a *analysis) folderToRun(name, lang string, inv *invocation, folder word) bool {
	at := a.fileAt(folder, inv.sc)
	if a.at.Contents == nil || !(*a.at.Contents)[at].Folder {
		return false
	}
	switch lang {
	case "python":
		a.languageFile(name, lang, inv, inFolder(folder, "__main__.py"))
	case "node":
		a.importsFrom(name, lang, inv, "", a.mainOf(at))
	}
	return true
}

// mainOf is the file that a package of Node's names as its own.
func (a *analysis) mainOf(folder string) string {
	file := folder + "/package.json"
	a.files = append(a.files, file)
	var about struct{ Main string }
	if s, ok := a.foundIn(file); ok && json.Unmarshal([]byte(s.text), &about) == nil && about.Main != "" {
		return folder + "/" + about.Main
	}
	return folder + "/index"
}

// languageStream reads a program that flows from somewhere.
func (a *analysis) languageStream(name, lang string, inv *invocation, s stream) {
	a.runs(s.path, s.file)
	program := s
	if lang == "python" { // which looks for modules in the working folder then
		program.file = ""
		a.library(name, inv, a.folderAt(known("."), inv.sc))
	}
	switch {
	case s.found:
		a.reading(s, func() { a.foundProgram(name, lang, inv, program) })
	case !s.isElsewhere():
		a.inline(name, lang, inv, s.word())
	}
}

// onlyComputes says whether a file that the text wrote is a Python program that
// starts nothing and reaches nothing: then it is like any file of the project.
func (a *analysis) onlyComputes(s stream, cwd string) bool {
	if !s.known || s.Fetched || s.Decoded || len(s.text) > maxValue {
		return false
	}
	c := a.readPython(s.text, value.Place{Workdir: cwd, Level: value.MaxLevel})
	for _, name := range c.Imports {
		if !computing[name] {
			return false
		}
	}
	return c.Complete && c.Command == nil && len(c.Features)+len(c.Hosts)+len(c.Reads)+len(c.Writes)+len(c.Variables) == 0
}

// computing are modules that only compute.
var computing = map[string]bool{
	"math": true, "json": true, "re": true, "datetime": true, "collections": true, "itertools": true, "functools": true, "random": true,
	"statistics": true, "string": true, "textwrap": true, "typing": true, "dataclasses": true, "enum": true, "decimal": true,
	"fractions": true,
	"time":      true, "csv": true, "argparse": true, "pprint": true, "operator": true, "bisect": true, "heapq": true, "unittest": true,
	"numpy": true, "abc": true, "copy": true, "uuid": true, "hashlib": true, "calendar": true,
}

// inline reads a program of another language as far as it runs shell text.
func (a *analysis) inline(name, lang string, inv *invocation, code word) {
	if lang == "perl" && code.known && onlySubstitutes(code.text) && !slices.ContainsFunc(inv.argv[1:], isPipe) {
		return
	}
	a.packages(lang, inv, code.text)
	read := a.readsProgram(code)
	a.feature(value.FeatureInlineProgram)
	if read && a.computes(lang, inv, code) {
		a.feature(value.FeatureReadProgram)
		return
	}
	a.ran(code.Taint)
	if read && lang == "python" {
		c := a.python(name, inv, code.text)
		if slices.Contains(inv.assigns, "PYTHONPATH") && len(c.Imports) > 0 {
			c.Complete = false // the text chooses where they are from
		}
		a.programs(c)
		return
	}
	a.feature(value.FeatureUnreadProgram)
	if !read {
		return
	}
	a.hosts = append(a.hosts, value.URLHosts(code.text)...)
	a.importsFound(name, lang, inv, loaded(lang, code.text))
	commands, all := shellInside(lang, code.text)
	if !all {
		a.hide()
	}
	for _, c := range commands {
		a.text(name, inv, known(c), inv.sc.fork())
	}
}

// programs notes what a Python program in the text does. One that is in a text which another
// program runs, or which is only supposed to run, counts as unread.
func (a *analysis) programs(c value.Code) {
	if !c.Complete || a.at.Level > 0 || a.supposes {
		a.feature(value.FeatureUnreadProgram)
		return
	}
	c.Command = nil
	if a.code == nil {
		a.code = &c
		return
	}
	for _, list := range []struct {
		to   *[]string
		more []string
	}{
		{&a.code.Imports, c.Imports}, {&a.code.Calls, c.Calls}, {&a.code.Strings, c.Strings}, {&a.code.Variables, c.Variables},
		{&a.code.Hosts, c.Hosts}, {&a.code.Reads, c.Reads}, {&a.code.Writes, c.Writes}, {&a.code.Settings, c.Settings},
		{&a.code.Loses, c.Loses}, {&a.code.Features, c.Features},
	} {
		*list.to = value.Sorted(slices.Concat(*list.to, list.more))
	}
}

// python takes over what a Python program does, and returns it.
func (a *analysis) python(name string, inv *invocation, code string) value.Code {
	around := a.around()
	c := a.readPython(code, value.Place{Workdir: inv.sc.cwd, Astray: inv.sc.astray, Home: a.at.Home, Level: a.at.Level + 1,
		Contents: a.at.Contents, Ground: a.at.Ground, Within: &around, Settled: a.settled, Fresh: freshPython(name, inv)})
	switch {
	case c.Command != nil && !c.Command.Complete: // a young file that the program runs is among what hides it
		a.complete = a.complete && a.idle
	case !c.Complete:
		a.hide()
	}
	a.modules(name, inv, slices.Concat(c.Imports, slices.DeleteFunc(c.Members, isStandard)))
	for _, folder := range c.Folders {
		for _, module := range c.Imports {
			a.importsFrom(name, "python", inv, a.fileAt(known(folder), inv.sc), module)
		}
	}
	a.ran(value.Taint{Fetched: slices.Contains(c.Features, value.FeatureDownloadAndRun), Decoded: slices.Contains(c.Features,
		value.FeatureDecodeAndRun)})
	a.alsoTouches(inv.made, c.Reads, c.Writes)
	for _, p := range c.Writes {
		a.madeUnknown(p, "")
	}
	a.hosts, a.variables = append(a.hosts, c.Hosts...), append(a.variables, c.Variables...)
	a.settings, a.loses = append(a.settings, c.Settings...), append(a.loses, c.Loses...)
	for _, f := range c.Features {
		if value.OfEveryText[f] {
			a.feature(f)
		}
	}
	if c.Command != nil {
		a.take(c.Command, append(slices.Clip(inv.wrappers), name))
	}
	return c
}

// freshPython says that a call starts a Python that runs what it is given and nothing before.
func freshPython(name string, inv *invocation) bool {
	return strings.HasPrefix(name, "python") && !slices.ContainsFunc(inv.argv[1:], func(w word) bool {
		return strings.HasPrefix(w.text, "-m") || strings.HasPrefix(w.text, "-i") || !w.known && strings.HasPrefix(w.text, "$")
	})
}

// take adds the facts of a shell text that was read by itself.
func (a *analysis) take(c *value.Command, wrappers []string) {
	for _, call := range c.Calls {
		if len(a.calls) >= value.MaxCalls || !a.spend(1) {
			a.complete = false
			break
		}
		call.Wrappers = append(slices.Clip(wrappers), call.Wrappers...)
		a.calls = append(a.calls, made{Call: call})
	}
	for _, f := range c.Features {
		a.feature(f)
	}
	if c.Supposed != nil {
		a.supposing().take(c.Supposed, wrappers)
	}
	a.hosts, a.reads, a.writes = append(a.hosts, c.Hosts...), append(a.reads, c.Reads...), append(a.writes, c.Writes...)
	a.settings, a.loses = append(a.settings, c.Settings...), append(a.loses, c.Loses...)
	a.variables, a.assigns, a.files = append(a.variables, c.Variables...), append(a.assigns, c.Assigns...), append(a.files, c.Files...)
	a.sought = append(a.sought, c.Opens...)
}

// shellCalls finds where another language starts a shell: the call's name and
// the quoted text after it.
var shellCalls = regexp.MustCompile(`\b(?:system|exec|execSync|popen|shell_exec|passthru|spawnSync|spawn|qx|` +
	`IO\.popen|os\.execute|io\.popen|Open3\.\w+)\b\s*[({]?\s*`)

// shellInside are the shell texts inside a program; all is false if some could not be read.
func shellInside(lang, code string) (commands []string, all bool) {
	all = true
	for _, at := range shellCalls.FindAllStringIndex(code, -1) {
		text, ok := quotedText(code[at[1]:])
		if ok {
			commands = append(commands, text)
		}
		all = all && ok
	}
	if lang == "perl" || lang == "ruby" || lang == "php" {
		commands = append(commands, backquoted(code)...)
	}
	return commands, all
}

func backquoted(code string) []string {
	var out []string
	pieces := strings.Split(code, "`")
	for i := 1; i+1 < len(pieces); i += 2 {
		out = append(out, pieces[i])
	}
	return out
}
