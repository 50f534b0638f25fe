package daytona

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// scripted answers questions one after the other, without a network, on the clock
// of the test.
type scripted struct {
	answers []answer
	asked   []time.Duration // since when
	since   time.Time
}

type answer struct {
	code  int
	after string
	body  string
	err   error
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, time.Since(s.since))
	if len(s.answers) == 0 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	if a.err != nil {
		return nil, a.err
	}
	return &http.Response{Request: r, StatusCode: a.code, Header: http.Header{"Retry-After": {a.after}}, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

func asking(t *testing.T, answers ...answer) (*client, *scripted) {
	t.Helper()
	t.Setenv("TEST_DAYTONA_KEY", testKey)
	s := &scripted{answers: answers, since: time.Now()}
	c := newClient("https://daytona.test/api", backends.Credential{Env: "TEST_DAYTONA_KEY"})
	c.http.Transport = s
	return c, s
}

var (
	busy   = answer{code: 429, after: "7"}
	down   = answer{code: 500}
	gone   = answer{err: errors.New("connection reset")}
	fine   = answer{code: 200, body: "{}"}
	no     = answer{code: 400, body: `{"message": ["cpu must be a number"], "error": "Bad Request"}`}
	closed = answer{code: 503, after: "86400"}
)

func TestAQuestionIsRepeatedOnlyWhereNothingWasDoneOrNothingCanBeDoneTwice(t *testing.T) {
	for name, c := range map[string]struct {
		answers []answer
		once    bool
		asked   int
		failed  bool
	}{
		"a busy Daytona did nothing":               {[]answer{busy, busy, fine}, true, 3, false},
		"a closed one neither":                     {[]answer{closed, fine}, true, 2, false},
		"a failing one may have":                   {[]answer{down, fine}, true, 1, true},
		"a lost answer may have been a yes":        {[]answer{gone, fine}, true, 1, true},
		"what can be done twice is asked again":    {[]answer{down, gone, fine}, false, 3, false},
		"a no is a no":                             {[]answer{no, fine}, false, 1, true},
		"nonsense is not asked for again":          {[]answer{{code: 200, body: "<html>"}, fine}, false, 1, true},
		"where it goes on failing there is an end": {[]answer{down, down, down, down, down, down, down, down}, false, attempts, true},
		"elsewhere is not where the key goes":      {[]answer{{code: 302}, fine}, false, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			client, script := asking(t, c.answers...)
			synctest.Test(t, func(t *testing.T) {
				err := client.do(t.Context(), call{method: http.MethodPost, address: client.base + "/sandbox", into: new(machine), once: c.once})
				if (err != nil) != c.failed || len(script.asked) != c.asked {
					t.Errorf("it was asked %d times and came to %v", len(script.asked), err)
				}
			})
		})
	}
}

func TestDaytonaIsGivenTheTimeItAsksForWithinBounds(t *testing.T) {
	client, script := asking(t, busy, closed, fine)
	synctest.Test(t, func(t *testing.T) {
		script.since = time.Now()
		if err := client.do(t.Context(), call{method: http.MethodGet, address: client.base}); err != nil {
			t.Error(err)
		}
	})
	if want := []time.Duration{0, 7 * time.Second, 7*time.Second + longestWait}; len(script.asked) != 3 || script.asked[1] != want[1] || script.asked[2] != want[2] {
		t.Errorf("it was asked after %v, want %v", script.asked, want)
	}
}

func TestNobodyWaitsForDaytonaBeyondTheirTime(t *testing.T) {
	client, script := asking(t, busy, fine)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begun := time.Now()
		err := client.do(ctx, call{method: http.MethodGet, address: client.base})
		if status(err) != 429 || len(script.asked) != 1 || time.Since(begun) != 0 {
			t.Errorf("after %v and %d questions it came to %v, want the answer at once", time.Since(begun), len(script.asked), err)
		}
	})
}

func TestAnAnswerThatNeverComesIsNotWaitedFor(t *testing.T) {
	client, script := asking(t)
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		err := client.do(t.Context(), call{method: http.MethodPost, address: client.base, once: true})
		if err == nil || !strings.Contains(err.Error(), "does not answer in time") || time.Since(begun) != answerTime || len(script.asked) != 1 {
			t.Errorf("after %v and %d questions it came to %v", time.Since(begun), len(script.asked), err)
		}
	})
}

func TestAnAnswerIsBounded(t *testing.T) {
	client, _ := asking(t, answer{code: 200, body: `"` + strings.Repeat("x", answerBytes) + `"`}, answer{code: 418, body: `{"message": "` + strings.Repeat("x", 4000) + `"}`})
	if err := client.do(t.Context(), call{method: http.MethodGet, address: client.base, into: new(string)}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a long answer came to %v", err)
	}
	if err := client.do(t.Context(), call{method: http.MethodGet, address: client.base}); status(err) != 418 || len(err.Error()) > 400 {
		t.Errorf("a long reason came to %v", err)
	}
}

func TestAReasonIsToldInDaytonasWords(t *testing.T) {
	client, _ := asking(t, no, answer{code: 409, body: "not JSON"}, answer{code: 409, body: "{\"error\": \"state\\u001b[31m\\nchange\"}"})
	for _, want := range []string{"Daytona answered 400: [cpu must be a number]", "Daytona answered 409", "Daytona answered 409: state[31m change"} {
		if err := client.do(t.Context(), call{method: http.MethodGet, address: client.base}); err == nil || err.Error() != want {
			t.Errorf("the reason is %q, want %q", err, want)
		}
	}
}
