package approval

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestWhereProofIsWantedAnAnswerSaysHowItWasProved(t *testing.T) {
	f := open(t, quorum(2))
	id := f.ask(claim("rm", "x"))
	f.approve(id, "ben", "session")
	f.change(func(r *roster) { r.proof = bailiff.ProofWebAuthn })
	if err := f.Replan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e, _ := f.Get(id); len(e.Votes) != 0 || e.Plan.Proof != bailiff.ProofWebAuthn {
		t.Errorf("a vote without proof stays: %+v", e)
	}
	for _, person := range []string{"ana", "cleo"} {
		who := bailiff.Approver{Person: person, Credential: "uid:" + person, Channel: bailiff.ChannelConsole, Login: bailiff.LoginLink}
		for _, yes := range []bool{true, false} {
			if _, err := f.Answer(t.Context(), id, who, bailiff.Verdict{Approve: yes}); !errors.Is(err, api.ErrProof) {
				t.Errorf("without proof: %v", err)
			}
		}
		who.Proof = "webauthn:1f2e"
		if _, err := f.Answer(t.Context(), id, who, bailiff.Verdict{Approve: true, Scope: "session"}); err != nil {
			t.Fatal(err)
		}
	}
	f.restart()
	g := f.Grants()[0]
	if g.Proof != bailiff.ProofWebAuthn || !strings.Contains(g.Via, "uid:ana on console by link with webauthn:1f2e, uid:cleo on") {
		t.Errorf("the grant is %+v", g)
	}
}

// Sidecars that share a store may have read their configurations at different times.
func TestAVoteWithoutProofMakesNoGrantWithProof(t *testing.T) {
	f := open(t, quorum(2))
	proof := func(as string) { f.change(func(r *roster) { r.proof = as }) }
	proof(bailiff.ProofWebAuthn)
	id := f.ask(claim("rm", "x"))
	ana := by("ana")
	ana.Proof = "webauthn:1f2e"
	if _, err := f.Answer(t.Context(), id, ana, bailiff.Verdict{Approve: true, Scope: "session"}); err != nil {
		t.Fatal(err)
	}
	proof("") // as a sidecar has it that knows of no proof yet
	if e := f.approve(id, "ben", "session"); e.State != bailiff.ApprovalApproved || e.Plan.Proof != bailiff.ProofWebAuthn {
		t.Fatalf("it is %s, planned as %+v", e.State, e.Plan)
	}
	f.restart()
	if g := f.Grants()[0]; g.Proof != "" {
		t.Errorf("the grant is %+v", g)
	}
	proof(bailiff.ProofWebAuthn)
	if f.Covered(claim("rm", "x")) || f.redeem(claim("rm", "x")) {
		t.Error("it covers where the route wants proof")
	}
}
