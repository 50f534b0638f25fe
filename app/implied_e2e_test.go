package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// A yes holds for what programs run by themselves: it ends with a change of that, and with none of what git changes itself.
func TestAYesHoldsForWhatProgramsRunByThemselves(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	const git = "git zz || true"
	for name, c := range map[string]struct {
		text   string
		change func(t *testing.T, folder string)
		same   bool
	}{
		"an alias":             {git, gitDoes("config", "alias.zz", "!echo swapped"), false},
		"a hook":               {git, fileSaved(".git/hooks/pre-commit", "#!/bin/sh\necho swapped\n"), false},
		"fsmonitor":            {"git status", gitDoes("config", "core.fsmonitor", "./watch"), false},
		"a common dir":         {git, fileSaved(".git/commondir", "../other"), false},
		"an included file":     {git, fileSaved("own.gitconfig", "[alias]\n\tzz = !echo swapped\n"), false},
		"the folder of hooks":  {git, fileSaved("hooks.d/pre-commit", "#!/bin/sh\necho swapped\n"), false},
		"where a remote leads": {git, gitDoes("config", "remote.origin.url", "https://elsewhere.example/x"), false},
		"the repository around": {git, func(t *testing.T, folder string) {
			runIn(t, folder, "git", "init", "-q", "sub")
		}, false},
		"behind a comment": {git, func(t *testing.T, folder string) {
			config := filepath.Join(folder, ".git/config")
			held, err := os.ReadFile(config)
			must(t, err)
			save(t, config, string(held)+"[core]\n\tbare = false ; x \\\n\tfsmonitor = ./evil.sh\n")
		}, false},
		"behind an empty .git":      {"cd e && git status", gitDoes("config", "core.fsmonitor", "./watch"), false},
		"where an alias leads":      {git, fileSaved("t.sh", "echo swapped"), false},
		"the program of a remote":   {git, fileSaved("rp.sh", "echo swapped"), false},
		"hooks of a local remote":   {git, fileSaved("local.git/hooks/pre-receive", "#!/bin/sh\n"), false},
		"an editor's note":          {git, gitDoes("config", "branch.main.vscode-merge-base", "origin/main"), true},
		"a branch's remote":         {git, gitDoes("config", "branch.main.remote", "origin"), true},
		"a commit":                  {git, gitDoes("commit", "-q", "--allow-empty", "-m", "x"), true},
		"a module of the library":   {"python3 -c 'import json; print(1)'", fileSaved("sub/re.py", "print('swapped')\n"), false},
		"a module that is a folder": {"python3 p.py", fileSaved("sub/json/__init__.py", "print('swapped')\n"), false},
		"a module by -m":            {"python3 -m json.tool", fileSaved("sub/argparse.py", "print('swapped')\n"), false},
		"PYTHONPATH":                {"PYTHONPATH=.. python3 -c 'print(1)'", fileSaved("sitecustomize.py", "print('swapped')\n"), false},
		"PERL5LIB":                  {"PERL5LIB=../lib perl -e 'use strict'", fileSaved("lib/strict.pm", "print 'swapped'; 1\n"), false},
		"libraries":                 {"LD_LIBRARY_PATH=../lib ls", fileSaved("lib/libc.so.6", "x"), false},
		"a build of an image":       {"false && docker build -f ../own.gitconfig .", fileSaved("own.gitconfig", "# RUN x\n"), false},
		"a patch":                   {"false && git apply ../lib/x.pm", fileSaved("lib/x.pm", "x"), false},
		"a module of another name":  {"python3 -c 'import json; print(1)'", fileSaved("sub/other.py", "print('x')\n"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := openDir(t)
			runIn(t, folder, "git", "init", "-q", "-b", "main")
			for _, file := range []string{"sub/p.py", "lib/x.pm", "hooks.d/readme", "own.gitconfig"} {
				fileSaved(file, "")(t, folder)
			}
			gitDoes("config", "include.path", "../own.gitconfig")(t, folder)
			gitDoes("config", "alias.yy", "!exec sh t.sh")(t, folder)
			gitDoes("config", "remote.origin.receivepack", "./rp.sh")(t, folder)
			runIn(t, folder, "git", "init", "-q", "--bare", "local.git")
			gitDoes("config", "remote.origin.pushurl", "local.git")(t, folder)
			runIn(t, folder, "mkdir", "-p", "sub/e/.git")
			gitDoes("config", "core.hooksPath", map[bool]string{true: "hooks.d", false: ""}[name == "the folder of hooks"])(t, folder)
			if name == "a hook" {
				gitDoes("config", "--unset", "core.hooksPath")(t, folder)
			}
			req := atTerminal("by itself "+name, "rm -rf ./q; "+c.text)
			req.WaitSeconds, req.Args.Workdir, req.Session.UserID = 0, filepath.Join(folder, "sub"), "by itself "+name
			first := ask(t, o.agent, req)
			wants(t, first, bailiff.ApprovalRequired, "")
			mustApprove(t, o.operator, first.Approval.ID, "session")
			wants(t, ask(t, o.agent, req), bailiff.Completed, "")
			c.change(t, folder)
			want := bailiff.ApprovalRequired
			if c.same {
				want = bailiff.Completed
			}
			wants(t, ask(t, o.agent, req), want, "")
		})
	}
}

func gitDoes(args ...string) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		t.Helper()
		runIn(t, folder, "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.example"}, args...)...)
	}
}

func fileSaved(file, text string) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		save(t, filepath.Join(folder, file), text)
	}
}

func runIn(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
}

// Packages of a project are too many to be held: a yes to them says so, and is for once.
func TestAYesDoesNotHoldPackagesOfAProject(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	for text, note := range map[string]string{
		"./ve/bin/python -c 'import json'": "the packages of",
		"node a.js":                        "the packages of",
		"git --git-dir=x status":           "git's settings in a folder that the text does not tell",
		"HOME=$PWD git status":             "git's settings in a folder that the text does not tell",
	} {
		folder := openDir(t)
		fileSaved("a.js", "require('leftp')\n")(t, folder)
		fileSaved("ve/bin/python", "#!/bin/sh\n")(t, folder)
		req := atTerminal("packages "+text, "rm -rf ./q; "+text)
		req.WaitSeconds, req.Args.Workdir, req.Session.UserID = 0, folder, "packages "+text
		first := ask(t, o.agent, req)
		wants(t, first, bailiff.ApprovalRequired, "")
		if shown := wantNote(t, o, first.Approval.ID, note); !slices.Equal(shown.Scopes, []string{"once"}) {
			t.Errorf("%s: scopes are %q, want once alone", text, shown.Scopes)
		}
	}
}
