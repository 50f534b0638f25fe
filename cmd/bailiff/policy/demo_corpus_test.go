package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/judging/corpus"
	"github.com/bailiff-dev/bailiff/internal/pdp"
)

// All cases are judged by the tests of internal/judging/corpus.
func TestTheCorpusIsToldByThemeWithWhatIsNotAsExpected(t *testing.T) {
	policies, err := pdp.Open(t.Context(), pdp.Config{EvalTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	cases := []corpus.Case{
		{Theme: "a", Command: "ls", Platform: "telegram", Outcome: bailiff.Allow},
		{Theme: "a", Command: "rm -rf /", Platform: "cli", Outcome: bailiff.Deny, Rule: "command.destroys_system"},
		{Theme: "b", Code: "print(1)", Platform: "cli", Outcome: bailiff.Allow},
	}
	var said strings.Builder
	if err := tell(t.Context(), &said, policies, cases); err != nil || !strings.Contains(said.String(), "all 3 cases were decided as") {
		t.Errorf("%v\n%s", err, &said)
	}
	said.Reset()
	cases[1].Rule, cases[2].Outcome = "command.another", bailiff.Ask
	err = tell(t.Context(), &said, policies, cases)
	if err == nil || err.Error() != "2 of 3 cases were not decided as the corpus says" {
		t.Errorf("where two are decided otherwise: %v", err)
	}
	for _, line := range []string{"a: want deny command.another, is deny command.destroys_system", "b: want ask , is allow"} {
		if !strings.Contains(said.String(), "\n"+line) {
			t.Errorf("%q is not in\n%s", line, &said)
		}
	}
}
