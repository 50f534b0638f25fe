package app

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

const keysRoute = `approvals: {routes: [{name: grave, proof: webauthn}]}`

func TestWhereARouteWantsAKeyNoAnswerWithoutOneCounts(t *testing.T) {
	t.Parallel()
	i := startIdentified(t, `[{name: ana, oidc: [ana-at-work]}]`, keysRoute)
	asked := send(t.Context(), i.office.agent, atTerminal("s", "rm -r ./build"))
	id := asked.question(t)
	if _, err := i.operator.Approve(t.Context(), id, ""); err == nil ||
		!strings.Contains(err.Error(), "route grave takes answers by console only, with a security key") {
		t.Errorf("on the operators' socket: %v", err)
	}
	login, err := i.console(t, "").BeginLogin(t.Context())
	must(t, err)
	i.provider.Confirm(t, login.Code, "ana-at-work")
	in, err := i.console(t, "").AwaitLogin(t.Context(), login.Device)
	must(t, err)
	if _, err := i.console(t, in.Token).Approve(t.Context(), id, ""); err == nil ||
		!strings.Contains(err.Error(), "route grave wants a security key, which only a browser at the console can ask for") {
		t.Errorf("on a command line: %v", err)
	}
	browser := i.surf(t)
	browser.login(t, i.provider, "ana-at-work")
	for verdict, body := range map[string]string{"approve": `{"scope": "once"}`, "deny": `{"reason": ""}`} {
		if resp, text := browser.send(t, "POST", "/v1/approvals/"+id+"/"+verdict, body); resp.StatusCode != http.StatusForbidden ||
			!strings.Contains(text, `"proof_needed"`) {
			t.Errorf("%s in a browser: %d %s", verdict, resp.StatusCode, text)
		}
	}
	resp, text := browser.send(t, "POST", "/keys/begin",
		`{"do": "answer", "approval": "`+id+`", "yes": {"scope": "once", "digest": "x"}}`)
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(text, "You have no security key that counts at localhost") {
		t.Errorf("by a person without a key: %d %s", resp.StatusCode, text)
	}
	if e, _ := i.approvals.Get(id); e.State != bailiff.ApprovalPending || len(e.Votes) > 0 {
		t.Errorf("it is %s by %+v", e.State, e.Votes)
	}
}

func TestNoKeyIsTheFirstWhileOneCannotBeRead(t *testing.T) {
	t.Parallel()
	i := startIdentified(t, `[{name: ana, oidc: [ana-at-work]}]`, keysRoute)
	browser := i.surf(t)
	browser.login(t, i.provider, "ana-at-work")
	file := filepath.Join(i.cfg.StateDir, "keys", "0123456789abcdef.json")
	save(t, file, `{"of_a_newer_version": 1}`)
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/keys", ""}, {"POST", "/keys/begin", `{"do": "add", "name": "mine"}`},
	} {
		if resp, text := browser.send(t, c.method, c.path, c.body); resp.StatusCode != http.StatusServiceUnavailable ||
			!strings.Contains(text, `"store_failed"`) {
			t.Errorf("%s %s: %d %s", c.method, c.path, resp.StatusCode, text)
		}
	}
	if _, err := i.openKeys(); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("the start: %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	must(t, os.Remove(file))
	if resp, text := browser.send(t, "POST", "/keys/begin", `{"do": "add", "name": "mine"}`); resp.StatusCode != http.StatusOK {
		t.Errorf("without it: %d %s", resp.StatusCode, text)
	}
}

func TestTheKeysOfARemovedPersonAreForgottenWithTheReload(t *testing.T) {
	t.Parallel()
	i := startIdentified(t, `[{name: ana, oidc: [ana-at-work]}, {name: ben, oidc: [ben-at-work]}]`, keysRoute)
	file := func(credential byte) string {
		sum := sha256.Sum256([]byte{credential})
		return filepath.Join(i.cfg.StateDir, "keys", hex.EncodeToString(sum[:8])+".json")
	}
	for person, credential := range map[string]struct {
		id byte
		in string
	}{"ana": {1, "AQ=="}, "ben": {2, "Ag=="}} {
		save(t, file(credential.id), `{"person": "`+person+`", "name": "key", "site": "localhost", "added": "2026-05-04T12:00:00Z", `+
			`"credential": {"id": "`+credential.in+`"}}`)
	}
	next := *i.cfg
	next.People = next.People[1:]
	_, err := i.reload(t.Context(), &next)
	must(t, err)
	if _, err := os.Stat(file(1)); !os.IsNotExist(err) {
		t.Errorf("ana's is there: %v", err)
	}
	if _, err := os.Stat(file(2)); err != nil {
		t.Errorf("ben's: %v", err)
	}
}
