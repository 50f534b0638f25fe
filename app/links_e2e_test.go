package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// linked is a text in a folder in which links stand.
type linked struct {
	run, code string
	// as is a text without links that does the same, and is not just let run; none where the text is.
	as string
}

// startLinked makes a folder of a project with links in it, by what they lead to.
func startLinked(t *testing.T, links map[string]string) (folder string) {
	t.Helper()
	folder = filepath.Join(openDir(t), "project")
	for _, name := range []string{"build/out", "src/sub", "node_modules/.bin", "node_modules/lint/bin", ".venv/bin"} {
		must(t, os.MkdirAll(filepath.Join(folder, name), 0o755)) //nolint:gosec // any user runs it
	}
	save(t, filepath.Join(folder, "build/out/x"), "x\n")
	save(t, filepath.Join(folder, "node_modules/lint/bin/lint.sh"), "#!/bin/sh\necho linted\n")
	must(t, os.Chmod(filepath.Join(folder, "node_modules/lint/bin/lint.sh"), 0o755)) //nolint:gosec // it is run
	for name, target := range links {
		must(t, os.Symlink(target, filepath.Join(folder, name)))
	}
	return folder
}

func judgesLinked(t *testing.T, o *office, folder string, cases map[string]linked) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := asksLinked(t, o, name, folder, c.run, c.code)
			if c.as == "" {
				wants(t, a, bailiff.Completed, "")
				return
			}
			direct := asksLinked(t, o, name+" directly", folder, c.as, "")
			if c.code != "" {
				direct = asksLinked(t, o, name+" directly", folder, "", c.as)
			}
			if direct.Status == bailiff.Completed {
				t.Fatal("what it would do without links is let run")
			}
			if a.Status != direct.Status || !found(a, direct) {
				t.Errorf("the answer is %s: %s\nwithout links it is %s: %s", a.Status, a.Message, direct.Status, direct.Message)
			}
		})
	}
}

// asksLinked sends a text, or a program, in a folder.
func asksLinked(t *testing.T, o *office, session, folder, text, code string) api.Answer {
	t.Helper()
	req := atTerminal(session, text)
	req.WaitSeconds, req.Args.Workdir, req.Session.UserID = 0, folder, session
	if code != "" {
		req.Args.Command = "true"
		ask(t, o.agent, req) // so that the session stands in the folder
		req.Tool, req.Args = bailiff.ExecuteCode, bailiff.Args{Code: code}
	}
	return ask(t, o.agent, req)
}

// found says that an answer has each rule that another one has.
func found(a, other api.Answer) bool {
	has := func(wanted bailiff.Reason) bool {
		return slices.ContainsFunc(a.Decision.Reasons(), func(r bailiff.Reason) bool { return r.Rule == wanted.Rule })
	}
	return !slices.ContainsFunc(other.Decision.Reasons(), func(r bailiff.Reason) bool { return !has(r) })
}

// What would be lost stands behind "false", so that it is judged and never done.
func TestAPathIsJudgedByWhatItLeadsTo(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	folder := startLinked(t, map[string]string{
		"q": "/etc", "tl": "/", "home": "/root", "apt": "/etc/apt", "up": "src/sub/../../q", "chain": "up", "secret": "/etc/shadow",
		"src/q": "../q", "self": "/proc/self/cwd", "eraser": "/bin/rm",
	})
	const reads = "head -c 9 /etc/shadow"
	judgesLinked(t, o, folder, map[string]linked{
		"a file behind a link":               {run: "head -c 9 q/shadow", as: reads},
		"a link to the file":                 {run: "head -c 9 secret", as: reads},
		"a link to a link":                   {run: "head -c 9 chain/shadow", as: reads},
		"a link below a folder":              {run: "head -c 9 src/q/shadow", as: reads},
		"a link above a link":                {run: "head -c 9 apt/../shadow", as: reads},
		"a link that a pattern matches":      {run: "head -c 9 s*/q/shadow", as: reads},
		"links that a pattern matches":       {run: "head -c 9 */shadow", as: reads},
		"a link that a class matches":        {run: "head -c 9 [a-z]/shadow", as: reads},
		"a link that a pattern matches last": {run: "head -c 9 secre*", as: reads},
		"a link in braces":                   {run: "head -c 9 {q,x}/shadow", as: reads},
		"after a change of folder":           {run: "cd q && head -c 9 shadow", as: reads},
		"in a loop":                          {run: "for f in q/shadow; do head -c 9 $f; done", as: reads},
		"what is redirected":                 {run: "head -c 9 < q/shadow", as: reads},
		"a member of an archive":             {run: "false && tar cf x.tar q/shadow", as: "false && tar cf x.tar /etc/shadow"},
		"a program that nothing describes":   {run: "false && unheard-of q/shadow", as: "false && unheard-of /etc/shadow"},
		"a word behind an equals sign":       {run: "false && unheard-of --in=q/shadow", as: "false && unheard-of --in=/etc/shadow"},
		"a text in a text":                   {run: "sh -c 'head -c 9 q/shadow'", as: reads},
		"an address of a file":               {run: "curl -s file://$PWD/q/shadow", as: "curl -s file:///etc/shadow"},
		"where a process stands":             {run: "head -c 9 self/x", as: `false && eval "$UNKNOWN"`},
		"a file that is written":             {run: "false && echo x > q/passwd", as: "false && echo x > /etc/passwd"},
		"a file that is copied to":           {run: "false && cp build/out/x q/passwd", as: "false && cp build/out/x /etc/passwd"},
		"a link that is written to":          {run: "false && tee secret", as: "false && tee /etc/shadow"},
		"keys of the home": {run: "false && echo x >> home/.ssh/authorized_keys",
			as: "false && echo x >> ~/.ssh/authorized_keys"},
		"what a shell starts with":       {run: "false && echo x >> home/.bashrc", as: "false && echo x >> ~/.bashrc"},
		"a folder that a slash leads to": {run: "false && rm -rf tl/", as: "false && rm -rf /"},
		"a folder that a dot leads to":   {run: "false && rm -rf tl/.", as: "false && rm -rf /"},
		"all that is in it":              {run: "false && rm -rf tl/*", as: "false && rm -rf /*"},
		"a folder in it":                 {run: "false && rm -rf q/ssh/", as: "false && rm -rf /etc/ssh"},
		"the home by a link":             {run: "false && rm -rf home/", as: "false && rm -rf ~/"},
		"keys that are deleted":          {run: "false && rm -rf home/.ssh", as: "false && rm -rf ~/.ssh"},
		"where the text stands":          {run: "false; cd home && rm -rf .", as: "false; cd ~ && rm -rf ."},
		"a program behind a link":        {run: "false && ./eraser -rf /", as: "false && rm -rf /"},
		"a Python program":               {code: "print(open('q/shadow').read(9))", as: "print(open('/etc/shadow').read(9))"},
		"a Python program that deletes": {code: "import shutil\nif 0: shutil.rmtree('q/ssh')",
			as: "import shutil\nif 0: shutil.rmtree('/etc/ssh')"},
		"a Python program in another folder": {code: "import os\nos.chdir('q')\nopen('shadow')", as: "open('/etc/shadow')"},
		"a Python program with a path": {code: "import pathlib\npathlib.Path('apt', '..', 'shadow').read_text()",
			as: "open('/etc/shadow')"},
		"a Python program that starts others": {code: "import os\nos.system('head -c 9 q/shadow')",
			as: "import os\nos.system('head -c 9 /etc/shadow')"},
		"Python in a shell text": {run: "python3 -c \"open('q/shadow')\"", as: "python3 -c \"open('/etc/shadow')\""},
	})
}

func TestOrdinaryLinksRaiseNoQuestion(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	folder := startLinked(t, map[string]string{
		"cur": "build/out", "node_modules/.bin/lint": "../lint/bin/lint.sh", "q": "/etc", "gone": "/nowhere/x",
		"loop": "loop", ".venv/bin/python": "python3", ".venv/bin/python3": "/usr/bin/python3",
	})
	judgesLinked(t, o, folder, map[string]linked{
		"a link of the project":                {run: "cat cur/x"},
		"a file that is written":               {run: "echo x > cur/y"},
		"a link that is replaced":              {run: "ln -sfn build/out cur2 && cat cur2/x"},
		"a link that is deleted":               {run: "false && rm -f q"},
		"a link that is moved":                 {run: "false && mv q q2"},
		"a program of node_modules":            {run: "node_modules/.bin/lint"},
		"links of the system":                  {run: "false && /bin/ls /var/run /tmp /usr/bin/vi"},
		"mounts":                               {run: "head -c 9 /etc/mtab"},
		"files that a pattern means":           {run: "cat build/*/x src/*"},
		"a folder with links":                  {run: "ls"},
		"an ordinary file behind a link":       {run: "head -c 9 q/hostname"},
		"a link that leads nowhere":            {run: "false && cat gone"},
		"a Python program":                     {code: "print(open('cur/x').read())"},
		"a Python program that deletes a link": {code: "import os\nif 0: os.remove('q')"},
	})
}

// swapped is a text that was said yes to, and what is done before it is sent again, when the yes still holds or does not.
type swapped struct {
	text  string
	then  func(t *testing.T, folder string)
	holds bool
}

// putLink puts a link in the place of what is there.
func putLink(t *testing.T, target, name string) {
	t.Helper()
	must(t, errors.Join(os.RemoveAll(name), os.Symlink(target, name)))
}

// Where a folder of the text is another one by the next request, the yes is no word about that.
func TestAYesHoldsForWhatThePathsLedTo(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	for name, c := range map[string]swapped{
		"nothing changed": {text: "rm -rf bl/", then: func(*testing.T, string) {}, holds: true},
		"a folder was made anew": {text: "rm -rf bl/ && mkdir bl", holds: true, then: func(t *testing.T, folder string) {
			must(t, errors.Join(os.RemoveAll(filepath.Join(folder, "bl")), os.Mkdir(filepath.Join(folder, "bl"), 0o700)))
		}},
		"another file came into it": {text: "rm -rf bl/", holds: true, then: func(t *testing.T, folder string) {
			save(t, filepath.Join(folder, "bl", "new"), "x")
		}},
		"the folder became a link": {text: "rm -rf bl/", then: func(t *testing.T, folder string) {
			putLink(t, "../other", filepath.Join(folder, "bl"))
		}},
		"the folder above became a link": {text: "rm -rf bl/x", then: func(t *testing.T, folder string) {
			putLink(t, "../other", filepath.Join(folder, "bl"))
		}},
		"the link leads elsewhere": {text: "rm -rf cur/x", then: func(t *testing.T, folder string) {
			putLink(t, "../other", filepath.Join(folder, "cur"))
		}},
		"the link is the same again": {text: "rm -rf cur/x", holds: true, then: func(t *testing.T, folder string) {
			putLink(t, "bl", filepath.Join(folder, "cur"))
		}},
		"a link on the way of the link leads elsewhere": {text: "rm -rf far/x", then: func(t *testing.T, folder string) {
			putLink(t, "../other", filepath.Join(folder, "cur"))
		}},
		"in a text that is not plain": {text: "cd . && rm -rf bl/", then: func(t *testing.T, folder string) {
			putLink(t, "../other", filepath.Join(folder, "bl"))
		}},
		"the working folder became a link": {text: "rm -rf ./bl", then: func(t *testing.T, folder string) {
			must(t, os.Rename(folder, folder+"2"))
			putLink(t, "other", folder)
		}},
		"another folder is in its place": {text: "rm -rf ./bl", then: func(t *testing.T, folder string) {
			must(t, os.Rename(folder, folder+"2"))
			must(t, os.Rename(filepath.Join(filepath.Dir(folder), "other"), folder))
		}},
	} {
		for _, scope := range []string{bailiff.ScopeOnce, bailiff.ScopeSession} {
			t.Run(name+" "+scope, func(t *testing.T) {
				t.Parallel()
				c.sendTwice(t, o, name, scope)
			})
		}
	}
}

// sendTwice sends the text in a folder w beside another one, with a yes between.
func (c swapped) sendTwice(t *testing.T, o *office, name, scope string) {
	t.Helper()
	beside := openDir(t)
	folder := filepath.Join(beside, "w")
	for _, d := range []string{"w/bl/x", "other/bl", "other/x"} {
		must(t, os.MkdirAll(filepath.Join(beside, d), 0o755)) //nolint:gosec // any user runs it
	}
	putLink(t, "bl", filepath.Join(folder, "cur"))
	putLink(t, "cur", filepath.Join(folder, "far"))
	send := func() api.Answer { return asksLinked(t, o, name+scope, folder, c.text, "") }
	first := send()
	wants(t, first, bailiff.ApprovalRequired, "")
	mustApprove(t, o.operator, first.Approval.ID, scope)
	c.then(t, folder)
	want := bailiff.ApprovalRequired
	if c.holds {
		want = bailiff.Completed
	}
	wants(t, send(), want, "")
	if left, err := filepath.Glob(filepath.Join(beside, "*", "x")); !c.holds && (err != nil || len(left) == 0) {
		t.Errorf("what the yes was not about is gone: %v", err)
	}
}

func TestAYesToWhatIsTypedHoldsForWhatThePathsLedTo(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	for name, swap := range map[string]bool{"swapped": true, "the same": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := openDir(t)
			kept := filepath.Join(openDir(t), "kept")
			for _, d := range []string{filepath.Join(folder, "bl", "x"), kept} {
				must(t, os.MkdirAll(d, 0o755)) //nolint:gosec // any user runs it
			}
			req := atTerminal(name, "bash")
			req.Args.Background, req.Args.Workdir, req.Session.UserID = true, folder, name
			started := ask(t, o.agent, req)
			wants(t, started, bailiff.Completed, "")
			req.Tool, req.WaitSeconds = bailiff.Process, 0
			req.Args = bailiff.Args{Action: "submit", ProcessID: started.ProcessID, Data: "rm -rf bl/*"}
			first := ask(t, o.agent, req)
			wants(t, first, bailiff.ApprovalRequired, "")
			mustApprove(t, o.operator, first.Approval.ID, bailiff.ScopeOnce)
			want := bailiff.Completed
			if swap {
				putLink(t, filepath.Dir(kept), filepath.Join(folder, "bl"))
				want = bailiff.ApprovalRequired
			}
			wants(t, ask(t, o.agent, req), want, "")
			if _, err := os.Stat(kept); err != nil {
				t.Errorf("what the yes was not about is gone: %v", err)
			}
		})
	}
}
