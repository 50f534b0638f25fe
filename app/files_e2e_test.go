package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// heldFile is a file with a text that runs it.
type heldFile struct {
	name, content, run string
	// rule is of the finding that a question is about, none where the text just runs.
	rule string
}

// What the files would do stands behind "false", so that it is judged and never done.
func TestWhatStandsInAFileIsJudgedWhenALaterRequestRunsIt(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	const harm = "false && rm -rf ./precious\n"
	for name, f := range map[string]heldFile{
		"a script":                   {name: "x.sh", content: harm, run: "bash x.sh", rule: "command.deletes_recursively"},
		"a script by its path":       {name: "x.sh", content: "#!/bin/sh\n" + harm, run: "./x.sh", rule: "command.deletes_recursively"},
		"a script as standard input": {name: "x.sh", content: harm, run: "sh < x.sh", rule: "command.deletes_recursively"},
		"a makefile":                 {name: "Makefile", content: "all:\n\t@" + harm, run: "make || true", rule: "command.deletes_recursively"},
		"a Python program": {name: "x.py", content: "import os\nif 0: os.system('rm -rf ./precious')\n", run: "python3 x.py",
			rule: "command.deletes_recursively"},
		"a program that is not read": {name: "x.js", content: "console.log(1)\n", run: "node x.js", rule: "command.hides_meaning"},
		"a script that hides what it does": {name: "x.sh", content: "false && eval \"$UNKNOWN\"\n", run: "sh x.sh",
			rule: "command.hides_meaning"},
		"a harmless script":         {name: "x.sh", content: "for f in *; do echo \"$f\"; done\n", run: "bash x.sh"},
		"a harmless Python program": {name: "x.py", content: "print(sum([1, 2]))\n", run: "python3 x.py"},
		"a harmless makefile":       {name: "Makefile", content: "all:\n\t@echo made\nclean:\n\t" + harm, run: "make"},
		"a file that nothing runs":  {name: "x.sh", content: harm, run: "cat x.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := openDir(t)
			path := filepath.Join(folder, f.name)
			save(t, path, f.content)
			must(t, os.Chmod(path, 0o755)) //nolint:gosec // it is run
			req := atTerminal(name, f.run)
			req.WaitSeconds, req.Args.Workdir, req.Session.UserID = 0, folder, name
			a := ask(t, o.agent, req)
			if f.rule == "" {
				wants(t, a, bailiff.Completed, "")
				return
			}
			wants(t, a, bailiff.ApprovalRequired, "")
			if asked := reasons(a.Decision); !strings.Contains(asked, f.rule) {
				t.Errorf("asked about %s, want %s", asked, f.rule)
			}
		})
	}
}

// reasons are the rules that a decision asks about.
func reasons(d bailiff.Decision) string {
	var rules []string
	if d.Approval != nil {
		for _, r := range d.Approval.Reasons {
			rules = append(rules, r.Rule)
		}
	}
	return strings.Join(rules, " ")
}
