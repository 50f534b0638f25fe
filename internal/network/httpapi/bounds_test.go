package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestAnAnswerThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{"none": silent, "half of one": halting} {
		t.Run(name, func(t *testing.T) {
			asking(t, func(t *testing.T, client *Client, a *api) {
				for _, long := range []time.Duration{0, 5 * time.Minute} {
					begun := time.Now()
					call := a.call(false, new(thing))
					call.Long = long
					err := client.Do(t.Context(), call)
					if err == nil || !strings.Contains(err.Error(), "does not answer in time") ||
						!errors.Is(err, context.DeadlineExceeded) ||
						time.Since(begun) != max(answerTime, long) {
						t.Errorf("after %v it came to %v", time.Since(begun), err)
					}
				}
			}, answer)
		})
	}
}

func TestAnAnswerIsReadWithinBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		into   any
		want   string // empty if it is a yes
	}{
		"an answer without end":         {endless, new(thing), "it is too long"},
		"as long as can be":             {says(200, `"`+strings.Repeat("x", answerBytes-2)+`"`), new(string), ""},
		"one that nobody wants to know": {endless, nil, ""},
		"a header without end": {says(200, "{}", "X-Long", strings.Repeat("x", 1<<20)), new(thing),
			"server response headers exceeded"},
		"a refusal without end": {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(418); endless(w, r) }, nil,
			"Acme answered 418"},
		"a reason of more than one line": {says(418, strings.Repeat("why\n", 4000)), nil, "Acme answered 418: why why"},
	} {
		t.Run(name, func(t *testing.T) {
			asking(t, func(t *testing.T, client *Client, a *api) {
				err := client.Do(t.Context(), a.call(false, c.into))
				if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || len(err.Error()) > 600) {
					t.Errorf("it came to %v, want %q", err, c.want)
				}
			}, c.answer)
		})
	}
}

func TestAStreamIsNotBoundedOnceItHasBegun(t *testing.T) {
	t.Parallel()
	slowly := func(w http.ResponseWriter, _ *http.Request) {
		for range 5 {
			_, _ = w.Write(make([]byte, answerBytes))
			time.Sleep(answerTime)
		}
	}
	asking(t, func(t *testing.T, client *Client, a *api) {
		body, err := client.Stream(t.Context(), a.call(false, nil))
		must(t, err)
		n, err := io.Copy(io.Discard, body)
		if n != 5*answerBytes || err != nil {
			t.Errorf("%d bytes came, %v", n, err)
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
	}, busy, slowly)
}

func TestAStreamThatDoesNotBeginIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, client *Client, a *api) {
		_, err := client.Stream(t.Context(), a.call(false, nil))
		if err == nil || !strings.Contains(err.Error(), "does not answer in time") || time.Since(a.since) != answerTime {
			t.Errorf("after %v it came to %v", time.Since(a.since), err)
		}
	}, silent)
}

func TestAStreamThatEndsInTheMiddleIsAFaultAndNotAskedForAgain(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, client *Client, a *api) {
		body, err := client.Stream(t.Context(), a.call(true, nil))
		must(t, err)
		defer body.Close()
		text, err := io.ReadAll(body)
		if string(text) != `{"name": ` || err == nil || !strings.Contains(err.Error(), "reading Acme's answer") || len(a.asked()) != 1 {
			t.Errorf("%q came, and then %v after %d questions", text, err, len(a.asked()))
		}
	}, torn, fine)
}

func TestAStreamEndsWithWhoeverReadsIt(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	asking(t, func(t *testing.T, client *Client, a *api) {
		body, err := client.Stream(t.Context(), a.call(false, nil))
		must(t, err)
		if err := body.Close(); err != nil {
			t.Error(err)
		}
		<-gone
	}, func(w http.ResponseWriter, r *http.Request) {
		halting(w, r)
		close(gone)
	})
}
