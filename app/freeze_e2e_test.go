package app

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

const houseAsksAboutEchoes = `
require_approval contains {"rule": "house.echoes", "message": "It speaks.", "match": input.args.command} if {
	startswith(input.args.command, "echo ")
}
`

func TestAFreezeStopsASessionAtOnceAndOutlivesAKill(t *testing.T) {
	for name, c := range map[string]struct {
		backends string
		session  func(command string) bailiff.Request
	}{
		"docker":     {isolatedOffices["docker"], func(command string) bailiff.Request { return inChat("stopped", command) }},
		"bubblewrap": {isolatedOffices["bubblewrap"], func(command string) bailiff.Request { return inChat("stopped", command) }},
		"local":      {onTheHost(t), func(command string) bailiff.Request { return atTerminal("stopped", command) }},
	} {
		t.Run(name, func(t *testing.T) {
			_, house := withHouse(t, houseAsksAboutEchoes)
			folder, text := openDir(t), onePerson(t, house, c.backends)
			before := launch(t, folder, text)
			before.awaitServing(t)
			seconds := fmt.Sprintf("%d.%d", 1000+len(name), os.Getpid()) // which no other sleep has
			granted := grantedIn(t, before, c.session("echo one"))
			runs := send(t.Context(), before.agent, c.session("setsid sleep "+seconds+" & sleep "+seconds))
			awaitProcesses(t, seconds, 2)
			pending := send(t.Context(), before.agent, waiting(c.session("echo two")))
			id := pending.question(t)

			if _, err := before.operator.Freeze(t.Context(),
				api.Freezing{Kind: api.FreezeSession, ID: "stopped", Reason: "It is odd."}); err != nil {
				t.Fatal(err)
			}
			awaitProcesses(t, seconds, 0)
			if a := runs.end(t); a.Status != bailiff.Interrupted || a.Code != bailiff.CodeFrozen {
				t.Errorf("what ran was answered %s %s: %s", a.Status, a.Code, a.Message)
			}
			wants(t, pending.end(t), bailiff.Refused, "It is odd.")
			if shown, err := before.operator.Approval(t.Context(), id); err != nil || shown.Approval.State != bailiff.ApprovalCancelled {
				t.Errorf("what waited is %s, %v", shown.Approval.State, err)
			}
			if grants, err := before.operator.Grants(t.Context()); err != nil || len(grants) != 0 {
				t.Errorf("grant %s is still there: %+v, %v", granted, grants, err)
			}
			awaitNoSandboxes(t, before)
			frozen := func(p *process) {
				t.Helper()
				a := ask(t, p.agent, c.session("true"))
				wants(t, a, bailiff.Refused, "ana froze this session: It is odd.")
				other := c.session("true")
				other.Session.ID = "other"
				wants(t, ask(t, p.agent, other), bailiff.Completed, "")
			}
			frozen(before)
			before.kill()

			after := launch(t, folder, text)
			after.awaitServing(t)
			frozen(after)
			must(t, after.operator.Thaw(t.Context(), api.FreezeSession, "stopped"))
			wants(t, ask(t, after.agent, c.session("true")), bailiff.Completed, "")
			after.stop(t)
		})
	}
}

// grantedIn leaves a grant for the session.
func grantedIn(t *testing.T, p *process, req bailiff.Request) (id string) {
	t.Helper()
	e := send(t.Context(), p.agent, waiting(req))
	granted := mustApprove(t, p.operator, e.question(t), bailiff.ScopeSession)
	wants(t, e.end(t), bailiff.Completed, "")
	return granted.GrantID
}

// awaitProcesses returns when so many processes sleep for so long.
func awaitProcesses(t *testing.T, seconds string, want int) {
	t.Helper()
	awaittest.Until(t, fmt.Sprintf("%d sleep", want), func() bool { return len(sleeping(seconds)) == want })
}

func sleeping(seconds string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil &&
			slices.Equal(strings.Split(string(bytes.Trim(text, "\x00")), "\x00"), []string{"sleep", seconds}) {
			found = append(found, file)
		}
	}
	return found
}

func awaitNoSandboxes(t *testing.T, p *process) {
	t.Helper()
	awaittest.Until(t, "no sandbox is there", func() bool {
		list, err := p.operator.Sandboxes(t.Context())
		return err == nil && len(list) == 0
	})
}
