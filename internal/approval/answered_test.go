package approval

import (
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestAnApprovalTellsWhatPeopleSaidToTheSameBefore(t *testing.T) {
	t.Parallel()
	f := open(t)
	for n, who := range []string{"ana", "ana", "ben"} {
		id := f.ask(claim("rm -r build", "build"))
		if _, err := f.Answer(t.Context(), id, by(who), bailiff.Verdict{Approve: n != 1}); err != nil {
			t.Fatal(err)
		}
		f.redeem(claim("rm -r build", "build"))
	}
	other := f.ask(claim("rm -r src", "src"))
	f.restart()
	id := f.ask(claim("rm -rf build", "build"))
	want := []api.Answered{{Person: "ana", Yes: 1, No: 1}, {Person: "ben", Yes: 1}}
	if e, _ := f.Get(id); !slices.Equal(e.Answered, want) {
		t.Errorf("answered before: %+v, want %+v", e.Answered, want)
	}
	if e, _ := f.Get(other); len(e.Answered) > 0 {
		t.Errorf("answered before to a question that was never put: %+v", e.Answered)
	}
}
