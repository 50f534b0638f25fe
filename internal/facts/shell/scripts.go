package shell

import (
	"encoding/json"
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
	s, ok := a.runnable(a.path(known(project), inv.sc), a.fileAt(known(project), inv.sc))
	scripts := scriptsRun(words)
	if ok && len(scripts) > 0 {
		a.reading(s, func() { a.scriptsOf(name, inv, s, scripts) })
	}
}

// scriptsOf reads some of the scripts of a project's file.
func (a *analysis) scriptsOf(name string, inv *invocation, s stream, scripts []string) {
	var file struct {
		Scripts map[string]string `json:"scripts"`
		Tasks   map[string]string `json:"tasks"`
	}
	if !s.known || json.Unmarshal([]byte(s.text), &file) != nil {
		a.ran(s.Taint)
		a.hide()
		return
	}
	for _, key := range scripts {
		if text := file.Scripts[key] + file.Tasks[key]; text != "" {
			a.text(name, inv, word{text: text, known: true, Taint: s.Taint}, inv.sc.fork())
		}
	}
}

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
		return []string{"preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"}
	case "publish", "pack":
		return []string{"prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"}
	}
	return []string{"pre" + main, main, "post" + main}
}
