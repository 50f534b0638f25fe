package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// What a client runs itself on the host is judged by the files that it runs, and by what its paths lead to.
func TestWhatAClientRunsItselfIsJudgedByTheFilesThatItRuns(t *testing.T) {
	t.Parallel()
	s := apptest.Serve(t, "", "backends: {local: {}}")
	const harm, deletes = "rm -rf ./precious\n", "command.deletes_recursively"
	const python = "import os\nos.system('rm -rf ./precious')\n"
	for name, c := range map[string]struct {
		files     map[string]string
		run, says string
	}{
		"a harmful script":           {map[string]string{"x.sh": harm}, "bash x.sh", deletes},
		"a harmless one":             {map[string]string{"x.sh": "echo a\n"}, "bash x.sh", ""},
		"that another one runs":      {map[string]string{"x.sh": "sh y.sh\n", "y.sh": harm}, "sh x.sh", deletes},
		"a makefile":                 {map[string]string{"Makefile": "all:\n\t" + harm}, "make", deletes},
		"a package's script":         {map[string]string{"package.json": `{"scripts": {"test": "rm -rf ./p"}}`}, "npm test", deletes},
		"a program of Python":        {map[string]string{"x.py": python}, "python3 x.py", deletes},
		"a module":                   {map[string]string{"x.py": python}, "python3 -c 'import x'", deletes},
		"a module of the library":    {map[string]string{"re.py": python}, "python3 -c 'import json; print(1)'", deletes},
		"a program that is not read": {map[string]string{"x.js": "run(x)\n"}, "node x.js", "command.runs_unknown_program"},
		"a link to a secret":         {map[string]string{"l": "-> /etc"}, "head -c 9 l/shadow", "command.reads_credentials"},
		"an ordinary link":           {map[string]string{"l": "-> a", "a/f": "x"}, "cat l/f", ""},
		"no file at all":             {nil, "ls -la", ""},
		"a module out of a script": {map[string]string{"re.py": python, "x.sh": "python3 -c 'import json; print(1)'\n"},
			"sh x.sh", deletes},
		"a program elsewhere":   {map[string]string{"x.sh": "echo a\n"}, "bash ../gone.sh", "/../gone.sh, on which it depends"},
		"modules elsewhere":     {nil, "PYTHONPATH=/opt/gone python3 -c 'print(1)'", "could not look at modules in /opt/gone"},
		"modules in the folder": {map[string]string{"l/m.py": "A = 1\n"}, "PYTHONPATH=l python3 -c 'print(1)'", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := apptest.OpenDir(t)
			for file, text := range c.files {
				at := filepath.Join(dir, file)
				err := os.MkdirAll(filepath.Dir(at), 0o755)
				if target, link := strings.CutPrefix(text, "-> "); err == nil && link {
					err = os.Symlink(target, at)
				} else if err == nil {
					err = os.WriteFile(at, []byte(text), 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			asked := strings.Replace(question("claude-code", "Bash", fmt.Sprintf(`{"command": %q}`, c.run)), "/home/ana/p", dir, 1)
			got := hookProgram(t, asked, "claude-code", "--listen", s.Agent, "--on-host", "--timeout", "45s")
			if c.says != "" {
				refuses(t, c.run, got, c.says)
			} else if got.status != 0 || strings.Contains(got.stdout, "deny") {
				t.Errorf("%s is refused: %+v", c.run, got)
			}
		})
	}
	for run, says := range map[string]string{"bash x.sh": "could not look at", "cat x": "could not look at /nowhere/x",
		"python3 -c 'import json'": "could not look at", "true": ""} {
		asked := strings.Replace(question("claude-code", "Bash", fmt.Sprintf(`{"command": %q}`, run)), "/home/ana/p", "/nowhere", 1)
		got := hookProgram(t, asked, "claude-code", "--listen", s.Agent, "--on-host", "--timeout", "45s")
		if says != "" {
			refuses(t, run+" in a folder that the sidecar does not see", got, says)
		} else if got.status != 0 || strings.Contains(got.stdout, "deny") {
			t.Errorf("%s is refused where no file counts: %+v", run, got)
		}
	}
}
