package shell

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// projectScripts reads the scripts of a project's file that the text wrote, and those
// that the call sets in it.
func (a *analysis) projectScripts(name, project string, inv *invocation, args *arguments) {
	words := texts(args.operands)
	if len(words) > 2 && words[0] == "pkg" && words[1] == "set" {
		for _, w := range args.operands[2:] {
			if key, text, ok := strings.Cut(w.text, "="); ok && strings.HasPrefix(key, "scripts.") {
				a.text(name, inv, part(w, text), inv.sc.fork())
			}
		}
	}
	isOperand := func(w string) bool { return !strings.HasPrefix(w, "-") }
	if alone := a.about(name).Own.Alone; alone != "" && !slices.ContainsFunc(words, isOperand) {
		words = []string{alone}
	}
	scripts := scriptsRun(words)
	if a.about(name).Own.RunsScripts {
		for scripts = nil; len(words) > 0; words = words[1:] {
			scripts = append(scripts, scriptsRun([]string{"run", words[0]})...)
		}
	}
	file := a.projectFile(project, inv.sc)
	if len(scripts) > 0 {
		a.runsPath(a.fileAt(file, inv.sc))
	}
	s, ok := a.runnable(a.path(file, inv.sc), a.fileAt(file, inv.sc))
	if !ok { // it is being read: one script runs another
		s, ok = a.readAgain(a.fileAt(file, inv.sc))
	}
	if ok && len(scripts) > 0 {
		a.reading(s, func() { a.scriptsOf(name, inv, s, scripts) })
	}
	a.scriptsBelow(name, project, inv, args, scripts)
}

// inPackages are the options by which a package manager runs scripts of other packages of the project.
var inPackages = []string{"-w", "--workspace", "--workspaces", "-ws", "-r", "--recursive", "--filter", "-F"}

// scriptsBelow reads the scripts of the packages of a project, and those of folders that a call installs.
func (a *analysis) scriptsBelow(name, project string, inv *invocation, args *arguments, scripts []string) {
	run := func(_ string, s stream) {
		there := *inv
		there.sc = a.standing(known(path.Dir(s.file)), inv.sc)
		a.scriptsOf(name, &there, s, scripts)
	}
	if slices.ContainsFunc(args.all, func(w word) bool { return names(inPackages, w.text) }) {
		a.gather([]string{"*/" + project, "*/*/" + project}, known("."), inv.sc, run)
	}
	if !slices.Contains(scripts, "postinstall") {
		return
	}
	for _, w := range after(args.operands, 1) {
		folder := part(w, strings.TrimPrefix(w.text, "file:"))
		if !w.known || folder.text == w.text && !strings.HasPrefix(w.text, ".") && !rooted(w.text) {
			continue
		}
		file := inFolder(folder, project)
		a.runsPath(a.fileAt(file, inv.sc))
		if s, ok := a.runnable(a.path(file, inv.sc), a.fileAt(file, inv.sc)); ok {
			a.reading(s, func() { run(s.file, s) })
		}
	}
}

// composerEvents are the scripts that composer runs beside its own work.
var composerEvents = []string{"pre-install-cmd", "post-install-cmd", "pre-update-cmd", "post-update-cmd", "pre-autoload-dump",
	"post-autoload-dump", "pre-package-install", "post-package-install", "pre-package-update", "post-package-update"}

// scriptsOf reads some of the scripts of a project's file, each once on the way to it.
func (a *analysis) scriptsOf(name string, inv *invocation, s stream, scripts []string) {
	var file struct {
		Scripts map[string]scriptText `json:"scripts"`
		Tasks   map[string]scriptText `json:"tasks"`
	}
	if !s.known || json.Unmarshal([]byte(s.text), &file) != nil {
		a.ran(s.Taint)
		a.hide()
		return
	}
	for _, key := range scripts {
		text := string(file.Scripts[key] + file.Tasks[key])
		switch at := s.file + "#" + key; {
		case text == "" && key == "start":
			a.languageFile(name, "node", inv, known("server.js"))
		case text != "" && !slices.Contains(a.reader.making, at):
			a.reader.making = append(a.reader.making, at)
			a.text(name, inv, word{text: text, known: true, Taint: s.Taint}, inv.sc.fork())
			a.reader.making = a.reader.making[:len(a.reader.making)-1]
		}
	}
}

// scriptText is the text of a script, which is one or a list of them. What a manager has other words for is put as commands:
// "@php x" is a call of PHP, "@x" another script, and "A::b" a function of the project's own.
type scriptText string

// UnmarshalJSON reads one text, or several. What is neither, such as a task with settings, is none that is read here.
func (s *scriptText) UnmarshalJSON(data []byte) error {
	var lines []string
	if json.Unmarshal(data, &lines) != nil {
		lines = make([]string, 1)
		if err := json.Unmarshal(data, &lines[0]); err != nil {
			return err
		}
	}
	for i, line := range lines {
		word, rest, _ := strings.Cut(line, " ")
		name, at := strings.CutPrefix(word, "@")
		switch {
		case at && name == "putenv":
			lines[i] = "export " + rest
		case at && (name == "php" || name == "composer"):
			lines[i] = name + " " + rest
		case at:
			lines[i] = "composer run " + name + " " + rest
		case composerFunction.MatchString(line):
			lines[i] = ":"
		}
	}
	*s = scriptText(strings.Join(lines, "\n"))
	return nil
}

// composerFunction matches the name of a function of PHP.
var composerFunction = regexp.MustCompile(`^[\w\\]+::\w+$`)

// scriptsRun are the scripts that a command of a package manager runs.
func scriptsRun(words []string) []string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "-") })
	if len(words) == 0 {
		return nil
	}
	main := words[0]
	switch main {
	case "run", "run-script", "task":
		if len(words) < 2 {
			return nil
		}
		main = words[1]
	case "t", "tst":
		main = "test"
	case "install", "i", "ci", "add", "rebuild":
		return append([]string{"preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"}, composerEvents...)
	case "update", "require", "remove", "dump-autoload", "dumpautoload":
		return composerEvents
	case "publish", "pack":
		return []string{"prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"}
	}
	return []string{"pre" + main, main, "post" + main}
}
