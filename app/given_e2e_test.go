package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

const givenValue, laterValue = "canary-5c0e9d7712ab", "canary-a90b41d3c6ee"

// withVariable has a command get what the file of variables holds.
func withVariable(req bailiff.Request) bailiff.Request {
	req.Env = []string{"LANG"}
	return req
}

func TestAValueIsRedactedAsLongAsItsWorkspaceLives(t *testing.T) {
	t.Parallel()
	variables := filepath.Join(t.TempDir(), "variables.env")
	save(t, variables, "LANG="+givenValue+"\n")
	must(t, os.Chmod(variables, 0o600))
	s := startSidecar(t, "backends: {bubblewrap: {}}", `env: {sources: ["file:`+variables+`"]}`)
	agent := s.client(t)
	prints := func(session, command, want string) {
		t.Helper()
		if a := ask(t, agent, inChat(session, command)); a.Output != want+"\n" {
			t.Errorf("%s printed %q, want %q: %s", command, a.Output, want, a.Message)
		}
	}
	prints("s1", "echo "+givenValue, givenValue) // which it did not get yet
	if a := ask(t, agent, withVariable(inChat("s1", `mkdir "$LANG"; echo "$LANG" > kept; cd "$LANG"`))); a.Status != bailiff.Completed ||
		len(a.Decision.Env.Forward) != 1 {
		t.Fatalf("the answer is %+v", a)
	}
	prints("s1", "pwd", "/workspace/[LANG redacted]")
	prints("s1", "printf %s $(cat ../kept) | base64 -w0; echo", "[LANG redacted]")
	prints("s2", "echo "+givenValue, givenValue)

	save(t, variables, "LANG="+laterValue+"\n")
	prints("s1", "cat ../kept", "[LANG-earlier1 redacted]")
	prints("s1", "echo "+laterValue, "[LANG redacted]")

	_, err := agent.EndSession(t.Context(), "s1")
	must(t, err)
	prints("s1", "echo "+givenValue, givenValue)
}

func TestARestartGoesOnRedactingWhatASandboxWasGiven(t *testing.T) {
	t.Parallel()
	folder := openDir(t)
	variables := filepath.Join(folder, "variables.env")
	save(t, variables, "LANG="+givenValue+"\n")
	must(t, os.Chmod(variables, 0o600))
	text := onePerson(t, dockerBackend, keepNoneReady, `env: {sources: ["file:`+variables+`"]}`)
	before := launch(t, folder, text)
	before.awaitServing(t)
	made := mustComplete(t, before.agent, withVariable(inChat("s1", `echo "$LANG" > kept`)))
	before.kill()
	after := launch(t, folder, text)
	after.awaitServing(t)
	if a := mustComplete(t, after.agent, inChat("s1", "cat kept")); a.SandboxID != made.SandboxID ||
		strings.TrimSpace(a.Output) != "[LANG redacted]" {
		t.Errorf("it goes on in %s, which printed %q; it was in %s\n%s", a.SandboxID, a.Output, made.SandboxID, &after.log)
	}
	after.stop(t)
}
