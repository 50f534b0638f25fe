package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"
)

func TestACallIsRepeatedOnlyWhereNothingWasDoneOrItMayBeDoneTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers    []http.HandlerFunc
		idempotent bool
		asked      int
		status     int // of the outcome; -1 is another fault
	}{
		"a busy API did nothing":                   {[]http.HandlerFunc{busy, busy, fine}, false, 3, 0},
		"a closed one neither":                     {[]http.HandlerFunc{says(503, ""), fine}, false, 2, 0},
		"a failing one may have":                   {[]http.HandlerFunc{down, fine}, false, 1, 500},
		"one behind another may have":              {[]http.HandlerFunc{says(502, ""), fine}, false, 1, 502},
		"a lost answer may have been a yes":        {[]http.HandlerFunc{cut, fine}, false, 1, -1},
		"half an answer is one to a call":          {[]http.HandlerFunc{torn, fine}, false, 1, -1},
		"what may be done twice is asked again":    {[]http.HandlerFunc{down, cut, torn, says(504, ""), fine}, true, 5, 0},
		"a no is a no":                             {[]http.HandlerFunc{says(400, ""), fine}, true, 1, 400},
		"so is one for lack of room":               {[]http.HandlerFunc{says(507, ""), fine}, true, 1, 507},
		"nonsense is not asked for again":          {[]http.HandlerFunc{says(200, "<html>"), fine}, true, 1, -1},
		"nor is what is too long":                  {[]http.HandlerFunc{endless, fine}, true, 1, -1},
		"where it goes on failing there is an end": {[]http.HandlerFunc{down}, true, attempts, 500},
	} {
		t.Run(name, func(t *testing.T) {
			asking(t, func(t *testing.T, client *Client, a *api) {
				var got thing
				err := client.Do(t.Context(), a.call(c.idempotent, &got))
				if len(a.asked()) != c.asked || Status(err) != max(c.status, 0) || (err == nil) != (c.status == 0) {
					t.Errorf("it was asked %d times and came to %v", len(a.asked()), err)
				}
				if err == nil && got.Name != "it" {
					t.Errorf("the answer is %v", got)
				}
			}, c.answers...)
		})
	}
}

func TestNobodyIsAskedSoonerThanTheyWant(t *testing.T) {
	t.Parallel()
	at := func(from time.Time) string { return from.Add(9 * time.Second).UTC().Format(http.TimeFormat) }
	another := time.Date(2040, 5, 6, 7, 8, 9, 0, time.UTC)
	for name, c := range map[string]struct {
		body   string
		header []string
		wait   time.Duration
	}{
		"in seconds": {"", []string{"Retry-After", "7"}, 7 * time.Second},
		"as a date by their own clock": {"", []string{"Date", another.Format(http.TimeFormat), "Retry-After", at(another)},
			9 * time.Second},
		"as long as can be":     {"", []string{"Retry-After", "30"}, longestWait},
		"in words of their own": {"after 5s", nil, 5 * time.Second},
		"in both":               {"after 5s", []string{"Retry-After", "7"}, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			asking(t, func(t *testing.T, client *Client, a *api) {
				if err := client.Do(t.Context(), a.call(false, nil)); err != nil {
					t.Error(err)
				}
				if want := []time.Duration{0, c.wait}; !slices.Equal(a.asked(), want) {
					t.Errorf("it was asked after %v, want %v", a.asked(), want)
				}
			}, says(429, c.body, c.header...), fine)
		})
	}
}

func TestWhoKnowsBetterWhenToAskAgainAsksOnce(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{"busy": busy, "closed": says(503, ""), "down": down, "cut": cut} {
		t.Run(name, func(t *testing.T) {
			asking(t, func(t *testing.T, client *Client, a *api) {
				call := a.call(true, nil)
				call.Once = true
				if err := client.Do(t.Context(), call); err == nil || len(a.asked()) != 1 {
					t.Errorf("it was asked %d times and came to %v", len(a.asked()), err)
				}
			}, answer, fine)
		})
	}
}

func TestWhoeverWantsMorePatienceThanThereIsIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after, within time.Duration
	}{
		"a day":                               {24 * time.Hour, time.Hour},
		"a little more than is waited":        {longestWait + time.Second, time.Hour},
		"more than the time of who is asking": {7 * time.Second, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			asking(t, func(t *testing.T, client *Client, a *api) {
				ctx, cancel := context.WithTimeout(t.Context(), c.within)
				defer cancel()
				err := client.Do(ctx, a.call(true, nil))
				var refused *Refusal
				if !errors.As(err, &refused) || refused.After != c.after || len(a.asked()) != 1 || time.Since(a.since) != 0 {
					t.Errorf("after %v and %d questions it came to %v", time.Since(a.since), len(a.asked()), err)
				}
			}, says(503, "", "Retry-After", strconv.Itoa(int(c.after.Seconds()))), fine)
		})
	}
}

func TestHowLongARefusalIsRespectedIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want time.Duration
	}{
		"a refusal":               {&Refusal{After: time.Minute}, time.Minute},
		"one that another tells":  {fmt.Errorf("asking: %w", &Refusal{After: time.Minute}), time.Minute},
		"one without end":         {&Refusal{After: 1 << 62}, time.Hour},
		"one that does not say":   {&Refusal{}, 0},
		"what is none":            {io.EOF, 0},
		"that nothing went wrong": {nil, 0},
	} {
		if got := After(c.err); got != c.want {
			t.Errorf("%s is respected for %v, want %v", name, got, c.want)
		}
	}
}

func TestPausesGrowAndAreNotEverybodysAlike(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for range 3 {
		asking(t, func(t *testing.T, client *Client, a *api) {
			_ = client.Do(t.Context(), a.call(true, nil))
			for i := 1; i < len(a.asked()); i++ {
				pause, least := a.asked()[i]-a.asked()[i-1], firstPause<<(i-1)
				if pause < least || pause > 2*least {
					t.Errorf("pause %d is %v, want %v to %v", i, pause, least, 2*least)
				}
				seen[pause] = true
			}
		}, down)
	}
	if len(seen) < attempts {
		t.Errorf("the pauses are alike: %v", seen)
	}
}

func TestWhoeverGoesAwayWaitsForNothing(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{"an answer": silent, "the next attempt": busy} {
		t.Run(name, func(t *testing.T) {
			asking(t, func(t *testing.T, client *Client, a *api) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				err := client.Do(ctx, a.call(true, nil))
				if err == nil || time.Since(a.since) != time.Second || len(a.asked()) != 1 {
					t.Errorf("after %v and %d questions it came to %v", time.Since(a.since), len(a.asked()), err)
				}
				if Status(err) == 0 && !errors.Is(err, context.Canceled) {
					t.Errorf("the fault is %v", err)
				}
			}, answer)
		})
	}
}

func TestWhatIsSentIsMadeAnewForEachAttempt(t *testing.T) {
	t.Parallel()
	var sent []string
	hear := func(then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			sent = append(sent, r.Header.Get("Content-Type")+" "+string(body))
			if err != nil {
				t.Error(err)
			}
			then(w, r)
		}
	}
	asking(t, func(t *testing.T, client *Client, a *api) {
		if err := client.Do(t.Context(), a.call(false, nil)); err != nil {
			t.Error(err)
		}
	}, hear(busy), hear(fine))
	if want := `application/json {"Name":"it"}`; !slices.Equal(sent, []string{want, want}) {
		t.Errorf("it was sent %q", sent)
	}
}

func TestWhatCannotBeMadeIsNotSent(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, client *Client, a *api) {
		call := a.call(true, nil)
		call.Body = JSON(func() {})
		if err := client.Do(t.Context(), call); err == nil || len(a.asked()) > 0 {
			t.Errorf("it was asked %d times and came to %v", len(a.asked()), err)
		}
	}, fine)
}
