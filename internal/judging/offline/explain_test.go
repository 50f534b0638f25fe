package offline

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/explain"
)

func TestAReasonOfNoPolicyIsExplainedByWhatItSays(t *testing.T) {
	t.Parallel()
	given := []bailiff.Reason{{Rule: "house.known", Message: "Known."}, {Rule: "floor", Message: "Has hunter2.", Match: "hunter2"}}
	scrub := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("hunter2"), []byte("[secret]")) }
	for _, part := range []string{"denied", "asked"} {
		known := explain.Fired{Rule: "house.known", Set: "deny", Part: part}
		x := Explained{Explanation: explain.Explanation{Fired: []explain.Fired{known}}}
		clean := x.reasons(part, given, scrub)
		if want := []explain.Fired{known, {Rule: "floor", Set: "bailiff", Value: "Has [secret].",
			Part: part}}; !reflect.DeepEqual(x.Fired, want) {
			t.Errorf("got %+v, want %+v", x.Fired, want)
		}
		if want := (bailiff.Reason{Rule: "floor", Message: "Has [secret].", Match: "[secret]"}); !reflect.DeepEqual(clean[1], want) ||
			given[1].Match != "hunter2" {
			t.Errorf("got %+v of %+v", clean[1], given[1])
		}
	}
}

func TestAFailureIsSaidOnce(t *testing.T) {
	t.Parallel()
	x := Explained{Explanation: explain.Explanation{Fired: []explain.Fired{}, Fault: "evaluating policies: house.rego:5: torn"}}
	x.reasons("denied", []bailiff.Reason{{Rule: "policy.error",
		Message: "The policies gave no decision: evaluating policies: house.rego:5: torn."}}, bytes.Clone)
	if len(x.Fired) != 0 || x.Fault != "the policies gave no decision, for the reason above" {
		t.Errorf("got %+v", x)
	}
}
