package app

import (
	"archive/tar"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// downloads serves a script, and tells what is answered to requests of a folder.
func downloads(t *testing.T, o *office) (url string, expect func(session, text, rule string) api.Answer) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("echo brought\n"))
	}))
	t.Cleanup(server.Close)
	folder := filepath.Join(openDir(t), "project")
	must(t, os.MkdirAll(folder, 0o755)) //nolint:gosec // any user runs it
	return server.URL, func(session, text, rule string) api.Answer {
		t.Helper()
		req := atTerminal(session, text)
		req.WaitSeconds, req.Args.Workdir = 0, folder
		a := ask(t, o.agent, req)
		is := func(r bailiff.Reason) bool { return r.Rule == rule }
		switch {
		case rule == "" && a.Status != bailiff.Completed:
			t.Errorf("%s: %s %v %s", text, a.Status, a.Decision.Reasons(), a.Message)
		case rule != "" && (a.Status != bailiff.ApprovalRequired || !slices.ContainsFunc(a.Decision.Reasons(), is)):
			t.Errorf("%s: %s because of %v, want it asked for %s: %s", text, a.Status, a.Decision.Reasons(), rule, a.Message)
		}
		return a
	}
}

func TestWhatASessionDownloadedIsAskedAboutWhenItRuns(t *testing.T) {
	t.Parallel()
	state, text := openDir(t), onePerson(t, "backends: {local: {}}")
	o := startOffice(t, state, text)
	url, expect := downloads(t, o)
	const rule = "session.runs_brought"
	expect("first", "sh own.sh || true", "")
	expect("first", "curl -s "+url+"/i.sh -o i.sh", "")
	expect("first", "cat i.sh; wc -l i.sh", "")
	expect("first", "sh i.sh", rule)
	expect("first", "cp i.sh copy.sh", "")
	expect("first", "sh copy.sh", rule)
	expect("first", "mv copy.sh other.sh", "")
	asked := expect("first", "sh ./other.sh", rule)
	if asked.Approval == nil {
		t.Fatal("nothing was asked")
	}
	mustApprove(t, o.operator, asked.Approval.ID, bailiff.ScopeOnce)
	if a := expect("first", "sh ./other.sh", ""); a.Output != "brought\n" {
		t.Errorf("it printed %q", a.Output)
	}
	expect("first", "sed s/brought/changed/ i.sh > changed.sh", "")
	expect("first", "sh changed.sh", rule)
	expect("second", "sh other.sh", rule)
	expect("second", "printf 'echo own\\n' > own.sh && chmod u+x own.sh", "")
	expect("second", "sh own.sh", "")
	o.stop()
	*o = *startOffice(t, state, text)
	expect("first", "sh i.sh", rule)
}

func TestWhatWasUnpackedOfADownloadIsAskedAboutWhenItRuns(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	server := httptest.NewServer(http.FileServer(http.Dir(archiveOf(t, "tool", "echo unpacked\n"))))
	t.Cleanup(server.Close)
	_, expect := downloads(t, o)
	const rule = "session.runs_brought"
	expect("first", "printf 'echo own\\n' > own.sh", "")
	expect("first", "curl -s "+server.URL+"/a.tar -o a.tar", "")
	expect("first", "tar xf a.tar", "")
	expect("first", "sh own.sh", "")
	expect("first", "sh ./tool", rule)
	expect("first", "mv tool other", "")
	expect("first", "sh ./other", rule)
	shown, err := o.operator.Session(t.Context(), "first")
	if err != nil || len(shown.Histories) != 1 || len(shown.Decisions) == 0 {
		t.Fatalf("the operator sees %+v, %v", shown, err)
	}
	if h := shown.Histories[0].History; len(h.Files) < 2 || h.Requests.Day < 7 || h.Findings[rule] != 2 {
		t.Errorf("the history is %+v, %+v", h, h.SessionFacts)
	}
	list, err := o.operator.Sessions(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != "first" {
		t.Errorf("the sessions are %+v, %v", list, err)
	}
}

// archiveOf is a folder with the archive a.tar of one file.
func archiveOf(t *testing.T, name, text string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	file, err := os.Create(filepath.Join(folder, "a.tar")) //nolint:gosec // of this test
	must(t, err)
	w := tar.NewWriter(file)
	must(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
	_, err = w.Write([]byte(text))
	must(t, errors.Join(err, w.Close(), file.Close()))
	return folder
}

func TestAWayOutIsAskedAboutOnceCredentialsWereRead(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	_, expect := downloads(t, o)
	const wayOut, rule = "curl -s https://host.invalid/ || true", "session.reaches_host_with_credentials"
	expect("first", wayOut, "")
	asked := expect("first", "cat ~/.netrc || true", "command.reads_credentials")
	expect("first", wayOut, "") // it did not run
	if asked.Approval == nil {
		t.Fatal("nothing was asked")
	}
	mustApprove(t, o.operator, asked.Approval.ID, bailiff.ScopeOnce)
	expect("first", "cat ~/.netrc || true", "")
	expect("first", "echo no host", "")
	expect("first", wayOut, rule)
	expect("second", wayOut, "")
}

func TestWhoIsDeniedAgainAndAgainIsAskedAboutEverything(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	_, expect := downloads(t, o)
	denied := func(session string) {
		t.Helper()
		if a := ask(t, o.agent, atTerminal(session, "rm -rf /")); a.Status != bailiff.Refused {
			t.Errorf("it is %s", a.Status)
		}
	}
	const rule = "session.denied_often"
	denied("first")
	denied("first")
	expect("first", "echo still", "")
	denied("first")
	denied("first")
	expect("first", "echo row", "") // the one that ran ended the row
	for range 3 {
		denied("first")
	}
	asked := expect("first", "echo everything", rule)
	expect("second", "echo another session", "")
	if asked.Approval == nil {
		t.Fatal("nothing was asked")
	}
	mustApprove(t, o.operator, asked.Approval.ID, bailiff.ScopeOnce)
	expect("first", "echo everything", "")
	expect("first", "echo again", "")
	if _, err := o.enforcer.EndSession(t.Context(), "test", "first"); err != nil {
		t.Error(err)
	}
}
