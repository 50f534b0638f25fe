package app

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

const houseAsksAboutDeploys = `
require_approval contains {"rule": "house.deploys", "message": "It deploys.", "match": "deploy.sh"} if {
	startswith(input.args.command, "sh deploy.sh")
}
`

func TestPoliciesThatChangeAfterTheQuestionVoidTheAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ added, says string }{
		"they deny it": {`
deny contains {"rule": "house.closed", "message": "Closed for today."} if startswith(input.args.command, "sh deploy.sh")
`, "Denied: Closed for today (house.closed). The approval is void"},
		"they set another limit": {"\nlimits contains {\"timeout_seconds\": 7}\n", "The approval is void: the limits changed"},
		"they set less memory":   {"\nlimits contains {\"memory_mb\": 64}\n", "The approval is void: the backend or its terms changed"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, house := withHouse(t, houseAsksAboutDeploys)
			o := startOffice(t, openDir(t), onePerson(t, house, "backends: {bubblewrap: {}}"))
			req := waiting(inChat("s1", "sh deploy.sh && echo deployed"))
			first, twin := send(t.Context(), o.agent, req), send(t.Context(), o.agent, req)
			id := first.question(t)
			twin.question(t)
			revision := o.policies.Revision()
			save(t, filepath.Join(folder, "house.rego"), "package bailiff\n"+houseAsksAboutDeploys+c.added)
			awaittest.Until(t, "the new policies are in force", func() bool { return o.policies.Revision() != revision })
			mustApprove(t, o.operator, id, "")
			for _, e := range []*sent{first, twin} {
				a := e.end(t)
				if a.Status != bailiff.Refused || a.Output != "" {
					t.Errorf("the answer is %s %s: %s", a.Status, a.Code, a.Message)
				}
				if !strings.Contains(a.Message, c.says) {
					t.Errorf("the answer says %q, want %q", a.Message, c.says)
				}
			}
			wantState(t, o, id, bailiff.ApprovalVoid)
			if grants, err := o.operator.Grants(t.Context()); err != nil || len(grants) != 0 {
				t.Errorf("the grants are %+v, %v", grants, err)
			}
		})
	}
}

func wantState(t *testing.T, o *office, id string, want bailiff.ApprovalState) api.Entry {
	t.Helper()
	shown, err := o.operator.Approval(t.Context(), id)
	if err != nil || shown.Approval.State != want {
		t.Errorf("approval %s is %s (%s), %v, want it %s", id, shown.Approval.State, shown.Approval.Message, err, want)
	}
	return shown.Approval
}

const goodScript = "echo good\n"

// isolatedOffices start an office on each backend that isolates.
var isolatedOffices = map[string]string{"docker": `backends: {docker: {image: "` + sandboxImage + `"}}`,
	"bubblewrap": "backends: {bubblewrap: {}}"}

// startDeploying starts an office with a deploy.sh in its session's workspace.
func startDeploying(t *testing.T, backends string) *office {
	t.Helper()
	_, house := withHouse(t, houseAsksAboutDeploys)
	o := startOffice(t, openDir(t), onePerson(t, house, backends))
	a := ask(t, o.agent, inChat("s1", "printf 'echo good\\n' | tee good deploy.sh; printf 'echo evil\\n' > evil"))
	if a.Status != bailiff.Completed || a.ExitCode != 0 {
		t.Fatalf("the answer is %s: %s %s", a.Status, a.Message, a.Output)
	}
	return o
}

func TestAFileThatChangesAfterTheQuestionVoidsTheAnswer(t *testing.T) {
	t.Parallel()
	for name, backends := range isolatedOffices {
		t.Run(name, func(t *testing.T) {
			o := startDeploying(t, backends)
			e := send(t.Context(), o.agent, waiting(inChat("s1", "sh deploy.sh")))
			mustApprove(t, o.operator, e.question(t), "")
			if a := e.end(t); a.Status != bailiff.Completed || a.Output != "good\n" {
				t.Errorf("the answer is %s: %s %s", a.Status, a.Message, a.Output)
			}
			e = send(t.Context(), o.agent, waiting(inChat("s1", "sh deploy.sh")))
			id := e.question(t)
			ask(t, o.agent, inChat("s1", "cp evil deploy.sh"))
			mustApprove(t, o.operator, id, "")
			wants(t, e.end(t), bailiff.Refused, "a file that the command runs changed")
			wantState(t, o, id, bailiff.ApprovalVoid)
			late := ask(t, o.agent, inChat("s1", "sh deploy.sh"))
			wants(t, late, bailiff.ApprovalRequired, "")
			ask(t, o.agent, inChat("s1", "cp good deploy.sh"))
			mustApprove(t, o.operator, late.Approval.ID, "")
			wants(t, ask(t, o.agent, inChat("s1", "sh deploy.sh")), bailiff.ApprovalRequired, "")
		})
	}
}

func TestAProcessThatSwapsTheFileNeverGetsTheOtherOneRun(t *testing.T) {
	t.Parallel()
	rounds := backendtest.Rounds(8, 60)
	for name, backends := range isolatedOffices {
		t.Run(name, func(t *testing.T) {
			o := startDeploying(t, backends)
			ran := 0
			for n := 0; n < rounds || ran == 0 && n < 10*rounds; n++ {
				pause := []string{"", "sleep 0.3;"}[n%2] // with which the good one is there most of the time
				ask(t, o.agent, inChat("s1", "kill $(cat last); nohup sh -c 'while :; do cp evil deploy.sh; cp good "+
					"deploy.sh; "+pause+" done' > /dev/null 2>&1 & echo $! > last"))
				if runsWhatWasApproved(t, o) {
					ran++
				}
			}
			t.Logf("%d of %d rounds ran the approved file", ran, rounds)
			if ran == 0 {
				t.Error("no round ran, so that this shows nothing")
			}
		})
	}
}

// runsWhatWasApproved asks until people see the good file, approves it, and says
// whether it ran.
func runsWhatWasApproved(t *testing.T, o *office) bool {
	t.Helper()
	for {
		e := send(t.Context(), o.agent, waiting(inChat("s1", "sh deploy.sh")))
		id := e.question(t)
		shown := wantState(t, o, id, bailiff.ApprovalPending)
		if len(shown.Files) != 1 || shown.Files[0].SHA256 != sumOf(goodScript) {
			if _, err := o.operator.Deny(t.Context(), id, "not this one"); err != nil {
				t.Fatal(err)
			}
			wants(t, e.end(t), bailiff.Refused, "not this one")
			continue
		}
		mustApprove(t, o.operator, id, "")
		a := e.end(t)
		if a.Status == bailiff.Completed && a.Output != "good\n" {
			t.Fatalf("under an approval of %q there ran %q", goodScript, a.Output)
		}
		if a.Status != bailiff.Completed {
			wants(t, a, bailiff.Refused, "a file that the command runs changed")
		}
		return a.Status == bailiff.Completed
	}
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
