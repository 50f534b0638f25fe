package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Each text becomes another by the file that is named with it. None of the programs has to be
// installed: what is looked at is whether the changed text is asked about anew.
func TestAYesHoldsForEveryFileThatATextMayDependOn(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	for text, file := range map[string]string{
		`eval "$(cat a.sh)"`:      "a.sh",
		`sh -c "$(<a.sh)"`:        "a.sh",
		`sed -n 1p a.sh | sh`:     "a.sh",
		`read -r x < a.sh; $x`:    "a.sh",
		`ed -s < a.ed`:            "a.ed",
		`sqlite3 :memory: <a.sql`: "a.sql",
		`PATH=.:$PATH a.sh`:       "a.sh",
		`python3 -m amod`:         "amod.py",
		`perl -Mlib=. -MA -e 1`:   "A.pm",
		`dc a.dc`:                 "a.dc",
		`bc a.bc`:                 "a.bc",
		`csh a.csh`:               "a.csh",
		`gdb -x a.gdb`:            "a.gdb",
		`rake -f a.rb`:            "a.rb",
		`cat a.sh | while read l; do eval "$l"; done`: "a.sh",
		`NODE_OPTIONS='--require ./a.cjs' node -e 1`:  "a.cjs",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			for _, scope := range []string{"once", "session"} {
				req, folder := atTerminal(text+scope, "rm -rf ./q; "+text), openDir(t)
				save(t, filepath.Join(folder, file), "echo GOOD\n")
				req.WaitSeconds, req.Args.Workdir, req.Session.UserID = 0, folder, text+scope
				first := ask(t, o.agent, req)
				wants(t, first, bailiff.ApprovalRequired, "")
				shown := wantNote(t, o, first.Approval.ID, "On this host another process may still change "+filepath.Join(folder, file))
				if !slices.Contains(shown.Scopes, scope) {
					continue
				}
				mustApprove(t, o.operator, first.Approval.ID, scope)
				save(t, filepath.Join(folder, file), "echo SWAPPED\n")
				wants(t, ask(t, o.agent, req), bailiff.ApprovalRequired, "")
				must(t, os.Remove(filepath.Join(folder, file)))
				wants(t, ask(t, o.agent, req), bailiff.ApprovalRequired, "")
				save(t, filepath.Join(folder, file), "echo GOOD\n")
				if a := ask(t, o.agent, req); a.Status != bailiff.Completed {
					t.Errorf("with the file that was approved the answer is %s: %s", a.Status, a.Message)
				}
			}
		})
	}
}

func TestWhatCannotBeBoundIsGrantedOnceOnly(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	folder := openDir(t)
	must(t, os.Mkdir(filepath.Join(folder, "src"), 0o700))
	must(t, syscall.Mkfifo(filepath.Join(folder, "src", "pipe"), 0o600))
	for text, what := range map[string]string{
		`cat *.txt | while read l; do eval "$l"; done`: "*.txt",
		`grep -rh x src | while read l; do $l; done`:   "src",
	} {
		req := atTerminal(text, "rm -rf ./q; "+text)
		req.WaitSeconds, req.Args.Workdir = 0, folder
		first := ask(t, o.agent, req)
		wants(t, first, bailiff.ApprovalRequired, "")
		shown := wantNote(t, o, first.Approval.ID, "The approval does not hold the content of "+filepath.Join(folder, what))
		if strings.Join(shown.Scopes, " ") != "once" {
			t.Errorf("offered is %v", shown.Scopes)
		}
		mustApprove(t, o.operator, first.Approval.ID, "")
		if a := ask(t, o.agent, req); a.Status != bailiff.Completed {
			t.Errorf("the answer is %s: %s", a.Status, a.Message)
		}
		wants(t, ask(t, o.agent, req), bailiff.ApprovalRequired, "")
	}
}

// wantNote wants the last reason of an approval to say more.
func wantNote(t *testing.T, o *office, id, note string) api.Entry {
	t.Helper()
	shown, err := o.operator.Approval(t.Context(), id)
	must(t, err)
	if reasons := shown.Approval.Reasons; len(reasons) == 0 || !strings.Contains(reasons[len(reasons)-1].Message, note) {
		t.Errorf("the reasons are %+v, want %q", reasons, note)
	}
	return shown.Approval
}

// What a file loads by a literal name is bound like the file itself.
func TestAYesHoldsForTheFilesThatRunningFilesLoad(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	for text, c := range map[string]struct{ file, content, loaded string }{
		"sh a.sh":      {"a.sh", ". ./lib.sh\n", "lib.sh"},
		"python3 a.py": {"a.py", "import mod\n", "mod.py"},
		"make":         {"Makefile", "include x.mk\nall:\n\t@echo a\n", "x.mk"},
		"node a.js":    {"a.js", "require('./a.cjs')\n", "a.cjs"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			req, folder := atTerminal("loads "+text, "rm -rf ./q; "+text+" || true"), openDir(t)
			save(t, filepath.Join(folder, c.file), c.content)
			save(t, filepath.Join(folder, c.loaded), "")
			req.WaitSeconds, req.Args.Workdir, req.Session.UserID = 0, folder, "loads "+text
			first := ask(t, o.agent, req)
			wants(t, first, bailiff.ApprovalRequired, "")
			mustApprove(t, o.operator, first.Approval.ID, "once")
			save(t, filepath.Join(folder, c.loaded), "\n")
			wants(t, ask(t, o.agent, req), bailiff.ApprovalRequired, "")
			save(t, filepath.Join(folder, c.loaded), "")
			wants(t, ask(t, o.agent, req), bailiff.Completed, "")
		})
	}
}

// A file that a running file names in a way which leaves it open is named, and granted once only.
func TestAFileThatARunningFileLeavesOpenIsGrantedOnceOnly(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	folder := openDir(t)
	save(t, filepath.Join(folder, "a.sh"), "false && . \"$UNKNOWN/lib.sh\"\n")
	req := atTerminal("leaves open", "rm -rf ./q; sh a.sh")
	req.WaitSeconds, req.Args.Workdir = 0, folder
	first := ask(t, o.agent, req)
	wants(t, first, bailiff.ApprovalRequired, "")
	shown := wantNote(t, o, first.Approval.ID, "The approval does not hold the content of $UNKNOWN/lib.sh")
	if !slices.Equal(shown.Scopes, []string{"once"}) {
		t.Errorf("scopes are %q, want once alone", shown.Scopes)
	}
}
