package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestTheFirstSightOfAProgramIsAskedAboutOnAHost(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	folder := filepath.Join(openDir(t), "project")
	must(t, os.MkdirAll(filepath.Join(folder, "bin"), 0o755)) //nolint:gosec // any user runs it
	must(t, exec.CommandContext(t.Context(), "cp", "/bin/true", filepath.Join(folder, "bin", "own")).Run())
	must(t, os.WriteFile(filepath.Join(folder, "bin", "own.pl"), []byte("sub main { return 0 }\nexit main();\n"), 0o600))
	for _, args := range [][]string{{"init", "-q"}, {"add", "bin"}} {
		must(t, exec.CommandContext(t.Context(), "git", append([]string{"-C", folder}, args...)...).Run())
	}
	expect := func(session, text string, asked bool) api.Answer {
		t.Helper()
		req := atTerminal(session, text)
		req.WaitSeconds, req.Args.Workdir = 0, folder
		a := ask(t, o.agent, req)
		isIt := func(r bailiff.Reason) bool { return r.Rule == bailiff.RunsUnknownProgram }
		switch {
		case asked != (a.Status == bailiff.ApprovalRequired):
			t.Errorf("%s: asked is %v, want %v: %s %v %s", text, !asked, asked, a.Status, a.Decision.Reasons(), a.Message)
		case asked && !slices.ContainsFunc(a.Decision.Reasons(), isIt):
			t.Errorf("%s: asked because of %v", text, a.Decision.Reasons())
		case !asked && a.Status != bailiff.Completed:
			t.Errorf("%s: %s %s", text, a.Status, a.Message)
		}
		if asked && a.Approval != nil && !strings.HasSuffix(text, " one") {
			_, err := o.operator.Deny(t.Context(), a.Approval.ID, "")
			must(t, err)
		}
		return a
	}
	for _, text := range []string{
		"./bin/own", "perl bin/own.pl", "PATH=$PWD/bin:$PATH own", "./missing || true",
		"cp bin/own brought; git add .", "mkdir tools; cp bin/own tools/git; cp bin/own.pl tools/",
		"ln -s ../bin/own tools/link; ln -s /bin/true tools/true; ln -s /bin/bash tools/other; cp bin/own.pl own.pl",
		"tools/link", "tools/true",
	} {
		expect("first", text, false)
	}
	for _, text := range []string{
		"true && unheard-of", "./brought -c code", "tools/git status", "PATH=$PWD/tools:$PATH git status",
		"tools/other own.pl", "perl own.pl",
		"cd tools && perl own.pl", "$PWD/brought",
	} {
		expect("first", text, true)
	}
	asked := expect("first", "./brought one", true)
	if asked.Approval == nil {
		t.Fatal("nothing was asked")
	}
	mustApprove(t, o.operator, asked.Approval.ID, bailiff.ScopeAlways)
	expect("second", "./brought two", false)
	expect("second", "./brought -c code", true)
	expect("second", "cp /bin/false brought; cp /bin/false bin/own; git add bin", false)
	expect("second", "./brought two", true)
	expect("second", "bin/own", true)
}
