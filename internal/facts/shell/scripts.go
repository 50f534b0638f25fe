package shell

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// projectScripts reads the scripts of a project's file that the text wrote, and those
// that the call sets in it.
func (a *analysis) projectScripts(name, project string, inv *call.Invocation, args *call.Arguments) {
	words := word.Texts(args.Operands)
	if len(words) > 2 && words[0] == "pkg" && words[1] == "set" {
		for _, w := range args.Operands[2:] {
			if key, text, ok := strings.Cut(w.Text, "="); ok && strings.HasPrefix(key, "scripts.") {
				a.Text(name, inv, word.Part(w, text), inv.Scope.Fork())
			}
		}
	}
	isOperand := func(w string) bool { return !strings.HasPrefix(w, "-") }
	if alone := a.about(name).Own.Alone; alone != "" && !slices.ContainsFunc(words, isOperand) {
		words = []string{alone}
	}
	scripts := languages.ScriptNames(words)
	if a.about(name).Own.RunsScripts {
		for scripts = nil; len(words) > 0; words = words[1:] {
			scripts = append(scripts, languages.ScriptNames([]string{"run", words[0]})...)
		}
	}
	file := a.ProjectFile(project, inv.Scope)
	if len(scripts) > 0 {
		a.RunPath(a.FileAt(file, inv.Scope))
	}
	s, ok := a.Program(a.Path(file, inv.Scope), a.FileAt(file, inv.Scope))
	if !ok { // it is being read: one script runs another
		s, ok = a.Current(a.FileAt(file, inv.Scope))
	}
	if ok && len(scripts) > 0 {
		a.ReadIn(s, func() { a.scriptsOf(name, inv, s, scripts) })
	}
	a.scriptsBelow(name, project, inv, args, scripts)
}

// scriptsBelow reads the scripts of the packages of a project, and those of folders that a call installs.
func (a *analysis) scriptsBelow(name, project string, inv *call.Invocation, args *call.Arguments, scripts []string) {
	run := func(_ string, s word.Stream) {
		there := *inv
		there.Scope = a.ScopeIn(word.Of(path.Dir(s.File)), inv.Scope)
		a.scriptsOf(name, &there, s, scripts)
	}
	if slices.ContainsFunc(args.All, func(w word.Word) bool { return names(languages.InPackages, w.Text) }) {
		a.Gather([]string{"*/" + project, "*/*/" + project}, word.Of("."), inv.Scope, run)
	}
	if !slices.Contains(scripts, "postinstall") {
		return
	}
	for _, w := range word.After(args.Operands, 1) {
		folder := word.Part(w, strings.TrimPrefix(w.Text, "file:"))
		if !w.Known || folder.Text == w.Text && !strings.HasPrefix(w.Text, ".") && !word.IsRooted(w.Text) {
			continue
		}
		file := word.InFolder(folder, project)
		a.RunPath(a.FileAt(file, inv.Scope))
		if s, ok := a.Program(a.Path(file, inv.Scope), a.FileAt(file, inv.Scope)); ok {
			a.ReadIn(s, func() { run(s.File, s) })
		}
	}
}

// scriptsOf reads some of the scripts of a project's file, each once on the way to it.
func (a *analysis) scriptsOf(name string, inv *call.Invocation, s word.Stream, scripts []string) {
	var file struct {
		Scripts map[string]languages.ScriptText `json:"scripts"`
		Tasks   map[string]languages.ScriptText `json:"tasks"`
	}
	if !s.Known || json.Unmarshal([]byte(s.Text), &file) != nil {
		a.NoteRun(s.Taint)
		a.Hide()
		return
	}
	for _, key := range scripts {
		text := string(file.Scripts[key] + file.Tasks[key])
		switch at := s.File + "#" + key; {
		case text == "" && key == "start":
			a.languageFile(name, "node", inv, word.Of("server.js"))
		case text != "" && !slices.Contains(a.reader.Projects, at):
			a.reader.Projects = append(a.reader.Projects, at)
			a.Text(name, inv, word.Word{Text: text, Known: true, Taint: s.Taint}, inv.Scope.Fork())
			a.reader.Projects = a.reader.Projects[:len(a.reader.Projects)-1]
		}
	}
}
