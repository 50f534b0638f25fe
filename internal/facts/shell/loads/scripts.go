package loads

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// ReadScripts reads the scripts of a project's file that the text wrote, and those
// that the call sets in it.
func (ld *Loader) ReadScripts(name, project string, inv *call.Invocation, args *call.Arguments) {
	words := word.Texts(args.Operands)
	if len(words) > 2 && words[0] == "pkg" && words[1] == "set" {
		for _, w := range args.Operands[2:] {
			if key, text, ok := strings.Cut(w.Text, "="); ok && strings.HasPrefix(key, "scripts.") {
				ld.Text(name, inv, word.Part(w, text), inv.Scope.Fork())
			}
		}
	}
	isOperand := func(w string) bool { return !strings.HasPrefix(w, "-") }
	if alone := ld.About(name).Own.Alone; alone != "" && !slices.ContainsFunc(words, isOperand) {
		words = []string{alone}
	}
	scripts := languages.ScriptNames(words)
	if ld.About(name).Own.RunsScripts {
		for scripts = nil; len(words) > 0; words = words[1:] {
			scripts = append(scripts, languages.ScriptNames([]string{"run", words[0]})...)
		}
	}
	file := ld.ProjectFile(project, inv.Scope)
	if len(scripts) > 0 {
		ld.RunPath(ld.FileAt(file, inv.Scope))
	}
	s, ok := ld.Program(ld.Path(file, inv.Scope), ld.FileAt(file, inv.Scope))
	if !ok { // it is being read: one script runs another
		s, ok = ld.Current(ld.FileAt(file, inv.Scope))
	}
	if ok && len(scripts) > 0 {
		ld.ReadIn(s, func() { ld.runScripts(name, inv, s, scripts) })
	}
	ld.runScriptsBelow(name, project, inv, args, scripts)
}

// runScriptsBelow reads the scripts of the packages of a project, and those of folders that a call installs.
func (ld *Loader) runScriptsBelow(name, project string, inv *call.Invocation, args *call.Arguments, scripts []string) {
	run := func(_ string, s word.Stream) {
		there := inv.WithScope(ld.ScopeIn(word.Of(path.Dir(s.File)), inv.Scope))
		ld.runScripts(name, there, s, scripts)
	}
	if slices.ContainsFunc(args.All, func(w word.Word) bool { return languages.RunsInPackages(w.Text) }) {
		ld.Gather([]string{"*/" + project, "*/*/" + project}, word.Of("."), inv.Scope, run)
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
		ld.RunPath(ld.FileAt(file, inv.Scope))
		if s, ok := ld.Program(ld.Path(file, inv.Scope), ld.FileAt(file, inv.Scope)); ok {
			ld.ReadIn(s, func() { run(s.File, s) })
		}
	}
}

// runScripts reads some of the scripts of a project's file, each once on the way to it.
func (ld *Loader) runScripts(name string, inv *call.Invocation, s word.Stream, scripts []string) {
	var file struct {
		Scripts map[string]languages.ScriptText `json:"scripts"`
		Tasks   map[string]languages.ScriptText `json:"tasks"`
	}
	if !s.Known || json.Unmarshal([]byte(s.Text), &file) != nil {
		ld.NoteRun(s.Taint)
		ld.Hide()
		return
	}
	for _, key := range scripts {
		text := string(file.Scripts[key] + file.Tasks[key])
		switch at := s.File + "#" + key; {
		case text == "" && key == "start":
			ld.runFile(name, "node", inv, word.Of("server.js"))
		case text != "" && !slices.Contains(ld.reader.Projects, at):
			ld.reader.Projects = append(ld.reader.Projects, at)
			ld.Text(name, inv, word.Word{Text: text, Known: true, Taint: s.Taint}, inv.Scope.Fork())
			ld.reader.Projects = ld.reader.Projects[:len(ld.reader.Projects)-1]
		}
	}
}
