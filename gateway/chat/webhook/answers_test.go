package webhook_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/webhook"
)

// inbox keeps what it is told.
type inbox struct {
	mu        sync.Mutex
	clicks    []chat.Click
	connected []error
	signal    chan struct{}
}

func (i *inbox) Said(context.Context, chat.Said) { panic("nobody says anything here") }

func (i *inbox) Clicked(_ context.Context, click chat.Click) chat.Text {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.clicks = append(i.clicks, click)
	return chat.Text{{Text: "thanks, "}, {Style: chat.Strong, Text: click.By.ID}}
}

func (i *inbox) Connected(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.connected = append(i.connected, err)
	select {
	case i.signal <- struct{}{}:
	default:
	}
}

// listening is the address where answers come in.
func listening(t *testing.T) (address string, in *inbox) {
	t.Helper()
	w := open(t, "http://127.0.0.1:1")
	in = &inbox{signal: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, in) }()
	<-in.signal
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil || w.Address() != "" {
			t.Errorf("it ended in %v, listening at %q", err, w.Address())
		}
	})
	return "http://" + w.Address() + "/answers", in
}

// sending is a request that may be wrong in some way.
type sending struct {
	url, body, stamp, signature string
	method                      string
	twice                       bool
}

func (s *sending) sign(key string, at time.Time) *sending {
	s.stamp = strconv.FormatInt(at.Unix(), 10)
	s.signature = webhook.Sign(bailiff.NewSecret(key), s.stamp, []byte(s.body))
	return s
}

func (s *sending) send(t *testing.T) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), s.method, s.url, bytes.NewReader([]byte(s.body)))
	if err != nil {
		t.Fatal(err)
	}
	if s.stamp != "" {
		r.Header.Add("Bailiff-Timestamp", s.stamp)
	}
	if s.signature != "" {
		r.Header.Add("Bailiff-Signature", s.signature)
	}
	if s.twice {
		r.Header.Add("Bailiff-Signature", s.signature)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, strings.TrimSpace(string(text))
}

const answered = `{"id": "a1", "user": "w1", "name": "Ana", "token": "abc", "reason": "it is prod"}`

func TestASignedAnswerIsTaken(t *testing.T) {
	t.Parallel()
	url, in := listening(t)
	for i, c := range []struct {
		body string
		want chat.Click
	}{
		{answered, chat.Click{By: chat.Person{ID: "w1", Name: "Ana"}, Token: "abc", Reason: "it is prod"}},
		{`{"id": "a2", "user": "w1", "message": "m1", "word": "deny"}`,
			chat.Click{By: chat.Person{ID: "w1"}, On: chat.Ref{Message: "m1"}, Word: "deny"}},
		{`{"id": "a3", "user": "w1", "message": "m1", "word": "session", "terms": "for 2h"}`,
			chat.Click{By: chat.Person{ID: "w1"}, On: chat.Ref{Message: "m1"}, Word: "session", Terms: "for 2h"}},
		{`{"id": "a4", "user": "w1", "message": "m1", "opinion": "it is fine"}`,
			chat.Click{By: chat.Person{ID: "w1"}, On: chat.Ref{Message: "m1"}, Opinion: "it is fine"}},
	} {
		s := &sending{url: url, body: c.body, method: "POST"}
		if status, told := s.sign(secret, time.Now()).send(t); status != 200 || told != `{"told":"thanks, w1"}` {
			t.Errorf("it is answered %d %s", status, told)
		}
		if len(in.clicks) != i+1 || in.clicks[i] != c.want {
			t.Errorf("told is %+v, want %+v", in.clicks, c.want)
		}
	}
}

func TestWhatIsNotSignedAsItShouldBeIsRefusedWithoutDetail(t *testing.T) {
	t.Parallel()
	url, in := listening(t)
	now := time.Now()
	good := func() *sending {
		return (&sending{url: url, body: answered, method: "POST"}).sign(secret, now)
	}
	for name, s := range map[string]*sending{
		"by another secret":      good().sign("other", now),
		"by none":                good().sign("", now),
		"too old":                good().sign(secret, now.Add(-5*time.Minute-2*time.Second)),
		"too new":                good().sign(secret, now.Add(5*time.Minute+2*time.Second)),
		"of another body":        with(good(), func(s *sending) { s.body += " " }),
		"of another time":        with(good(), func(s *sending) { s.stamp = strconv.FormatInt(now.Unix()+1, 10) }),
		"without a time":         with(good(), func(s *sending) { s.stamp = "" }),
		"without a signature":    with(good(), func(s *sending) { s.signature = "" }),
		"with two":               with(good(), func(s *sending) { s.twice = true }),
		"of another version":     with(good(), func(s *sending) { s.signature = "v2" + s.signature[2:] }),
		"in other letters":       with(good(), func(s *sending) { s.signature = strings.ToUpper(s.signature) }),
		"at a time that is none": signedAt(good(), "soon"),
		"at a time below zero":   signedAt(good(), "-1"),
		"at the end of time":     signedAt(good(), "18446744073709551615"),
		"and empty":              with(&sending{url: url, method: "POST"}, func(s *sending) {}),
	} {
		t.Run(name, func(t *testing.T) {
			status, told := s.send(t)
			if status != 401 || told != `{"code":"unauthorized","message":"The request is not signed as it should be."}` {
				t.Errorf("it is answered %d %s", status, told)
			}
		})
	}
	if len(in.clicks) != 0 {
		t.Errorf("told is %+v", in.clicks)
	}
}

func with(s *sending, change func(*sending)) *sending {
	change(s)
	return s
}

func signedAt(s *sending, stamp string) *sending {
	s.stamp, s.signature = stamp, webhook.Sign(bailiff.NewSecret(secret), stamp, []byte(s.body))
	return s
}

func TestWhatWasSentBeforeIsRefused(t *testing.T) {
	t.Parallel()
	url, in := listening(t)
	now := time.Now()
	first := (&sending{url: url, body: answered, method: "POST"}).sign(secret, now)
	if status, told := first.send(t); status != 200 {
		t.Fatalf("it is answered %d %s", status, told)
	}
	for name, s := range map[string]*sending{
		"the same":                 first,
		"the same at another time": (&sending{url: url, body: answered, method: "POST"}).sign(secret, now.Add(time.Second)),
		"another by the same id": (&sending{url: url, body: `{"id": "a1", "user": "w2", "token": "xyz"}`, method: "POST"}).sign(secret,
			now),
	} {
		if status, told := s.send(t); status != 409 || !strings.Contains(told, `"repeated"`) {
			t.Errorf("%s is answered %d %s", name, status, told)
		}
	}
	if len(in.clicks) != 1 {
		t.Errorf("told is %+v", in.clicks)
	}
}

func TestASignedAnswerThatIsNoneIsRefusedByName(t *testing.T) {
	t.Parallel()
	url, in := listening(t)
	long := strings.Repeat("x", 257)
	for body, c := range map[string]struct {
		status int
		want   string
	}{
		`[]`:                      {400, "is no answer"},
		`{"id": "a"`:              {400, "is no answer"},
		`{"id": "a", "uesr":"w"}`: {400, "is no answer"},
		`{"id": "a", "user": "w", "token": "t"} {}`:                                               {400, "one JSON object"},
		`{"user": "w", "token": "t"}`:                                                             {400, "Id is missing"},
		`{"id": "a", "token": "t"}`:                                                               {400, "User is missing"},
		`{"id": "a", "user": "w"}`:                                                                {400, "Token is missing"},
		`{"id": "a", "user": "w", "word": "deny"}`:                                                {400, "Token is missing"},
		`{"id": "a", "user": "w", "message": "m", "opinion": "yes", "word": "approve"}`:           {400, "An opinion is no answer"},
		`{"id": "a", "user": "w", "token": "t", "opinion": "yes"}`:                                {400, "An opinion is no answer"},
		`{"id": "a", "user": "w", "opinion": "yes"}`:                                              {400, "An opinion is no answer"},
		`{"id": "a", "user": "w", "token": "t", "message": "m", "word": "approve"}`:               {400, "one of them"},
		`{"id": "` + long + `", "user": "w", "token": "t"}`:                                       {400, "Id is too long"},
		`{"id": "a", "user": "w", "token": "t", "reason": "` + strings.Repeat("x", 64<<10) + `"}`: {413, "64 KiB"},
	} {
		s := (&sending{url: url, body: body, method: "POST"}).sign(secret, time.Now())
		if status, told := s.send(t); status != c.status || !strings.Contains(told, c.want) {
			t.Errorf("%.60s is answered %d %s, want %s", body, status, told, c.want)
		}
	}
	for status, s := range map[int]*sending{
		405: {url: url, body: answered, method: "PUT"},
		404: {url: strings.TrimSuffix(url, "s"), body: answered, method: "POST"},
	} {
		if got, told := s.sign(secret, time.Now()).send(t); got != status {
			t.Errorf("%s %s is answered %d %s, want %d", s.method, s.url, got, told, status)
		}
	}
	if len(in.clicks) != 0 {
		t.Errorf("told is %+v", in.clicks)
	}
}
