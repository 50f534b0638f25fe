package answers

import (
	"strconv"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

func named(id, command string) bailiff.Request {
	return bailiff.Request{ID: id, Tool: bailiff.Terminal, Args: bailiff.Args{Command: command}, Caller: "agent",
		Session: bailiff.Session{ID: "s1", Platform: "cli"}}
}

func TestARequestOfAnEarlierRunIsNeverRunAgain(t *testing.T) {
	t.Parallel()
	req := named("r1", "date")
	for name, ended := range map[string]bool{"that nobody saw end": false, "that ended, and whose answer is lost": true} {
		t.Run(name, func(t *testing.T) {
			known := Remember([]Unfinished{{Caller: req.Caller, Session: req.Session.ID, RequestID: "r1", Digest: req.Digest(),
				At: time.Now(), Ended: ended}}, nil)
			a := known.Once(t.Context(), req, func(bailiff.Progress) {},
				func(Own) bailiff.Answer { t.Error("it ran"); return bailiff.Answer{} })
			if a.Code != bailiff.CodeOutcomeUnknown || a.Status != bailiff.Failed {
				t.Errorf("answer is %+v", a)
			}
		})
	}
}

// answered gives answers an answer under each of n request ids.
func answered(t *testing.T, known *Remembered, n int, output []byte) {
	t.Helper()
	for i := range n {
		a := known.Once(t.Context(), named(strconv.Itoa(i), "date"), nil, func(Own) bailiff.Answer {
			return bailiff.Answer{Status: bailiff.Completed, Output: output}
		})
		if a.Status != bailiff.Completed {
			t.Fatalf("request %d: %+v", i, a)
		}
	}
}

func TestHoweverManyRequestIDsAreRemembered(t *testing.T) {
	t.Parallel()
	known := Remember(nil, nil)
	const n = maxRememberedBytes / answerBytes * 9 / 8
	answered(t, known, n, nil)
	for _, id := range []int{0, n / 20, n - 1} {
		a := known.Once(t.Context(), named(strconv.Itoa(id), "date"), nil, func(Own) bailiff.Answer {
			t.Errorf("%d ran again", id)
			return bailiff.Answer{}
		})
		if wants := id == n-1; (a.Status == bailiff.Completed) != wants || (a.Code == bailiff.CodeOutcomeUnknown) == wants {
			t.Errorf("%d of %d: answer is %+v", id, n, a)
		}
	}
	if a := known.Once(t.Context(), named("0", "id"), nil, func(Own) bailiff.Answer { return bailiff.Answer{} }); a.Code !=
		bailiff.CodeConflict {
		t.Errorf("another request under an id without its answer: %+v", a)
	}
}

func TestAnswersAreLetGoByTheirBytesAndTheirIDsKept(t *testing.T) {
	t.Parallel()
	known := Remember(nil, nil)
	answered(t, known, 40, make([]byte, maxRememberedBytes/32))
	if known.bytes > maxRememberedBytes || len(known.known)+len(known.bare) != 40 || len(known.bare) < 8 {
		t.Errorf("%d bytes of %d answers, %d bare ids", known.bytes, len(known.known), len(known.bare))
	}
}

func TestWhatIsRememberedIsForgottenInTime(t *testing.T) {
	t.Parallel()
	known := Remember(nil, nil)
	answered(t, known, 40, make([]byte, maxRememberedBytes/32))
	known.forget(time.Now().Add(remembered + 2*time.Second))
	if len(known.known)+len(known.bare)+len(known.ended)+len(known.bareOrder)+known.bytes != 0 {
		t.Errorf("left: %d answers, %d ids, %d bytes", len(known.known), len(known.bare), known.bytes)
	}
}
