package webhook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/webhook"
)

const secret = "sesame-4711"

func read() (bailiff.Secret, error) { return bailiff.NewSecret(secret), nil }

// other is the other side: what it was sent, and what it answers.
type other struct {
	*httptest.Server
	answer http.HandlerFunc

	mu   sync.Mutex
	sent []map[string]any
	bad  []string
}

func newOther(t *testing.T, answer http.HandlerFunc) *other {
	o := &other{answer: answer}
	o.Server = httptest.NewServer(o)
	t.Cleanup(o.Close)
	return o
}

func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func (o *other) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	stamp := r.Header.Get("Bailiff-Timestamp")
	var sent map[string]any
	err := json.Unmarshal(body, &sent)
	seconds, bad := strconv.ParseInt(stamp, 10, 64)
	o.mu.Lock()
	if err != nil || bad != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" ||
		time.Since(time.Unix(seconds, 0)).Abs() > time.Minute ||
		r.Header.Get("Bailiff-Signature") != webhook.Sign(bailiff.NewSecret(secret), stamp, body) {
		o.bad = append(o.bad, fmt.Sprint(r.Method, r.Header, string(body)))
	}
	o.sent = append(o.sent, sent)
	o.mu.Unlock()
	o.answer(w, r)
}

func (o *other) last(t *testing.T) map[string]any {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.bad) > 0 {
		t.Errorf("not signed as they should be: %q", o.bad)
	}
	return o.sent[len(o.sent)-1]
}

func (o *other) times() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.sent)
}

func open(t *testing.T, url string) *webhook.Webhook {
	t.Helper()
	w, err := webhook.New(webhook.Config{URL: url, Secret: read, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler),
		Token: func() (bailiff.Secret, error) { return bailiff.NewSecret("bearer-4711"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var asked = chat.Message{
	Text: chat.Text{{Style: chat.Strong, Text: "May it?"}, {Text: " It is:"}, {Style: chat.Block, Text: "rm -rf <x>"},
		{Text: "in prod"}},
	Buttons: []chat.Button{{Label: "Deny", Token: "abc", Word: "deny", Sign: "❌", Asks: "Why?"}},
	File:    &chat.File{Name: "all.txt", Content: []byte("everything")},
}

func TestWhatIsPostedIsSentSignedAndWhole(t *testing.T) {
	t.Parallel()
	o := newOther(t, says(200, `{"message": "theirs-1"}`))
	w := open(t, o.URL)
	ref, err := w.Post(t.Context(), chat.Place{}, asked, "k1")
	if err != nil || ref != (chat.Ref{Message: "theirs-1"}) {
		t.Fatalf("it is shown at %v, %v", ref, err)
	}
	sent := o.last(t)
	id := sent["id"]
	delete(sent, "id")
	want := map[string]any{
		"type": "post", "key": "k1", "text": "May it? It is:\nrm -rf <x>\nin prod",
		"pieces": []any{map[string]any{"style": "strong", "text": "May it?"}, map[string]any{"style": "plain", "text": " It is:"},
			map[string]any{"style": "block", "text": "rm -rf <x>"}, map[string]any{"style": "plain", "text": "in prod"}},
		"buttons": []any{map[string]any{"label": "Deny", "token": "abc", "word": "deny", "sign": "❌", "asks": "Why?", "yes": false}},
		"file":    map[string]any{"name": "all.txt", "content": "ZXZlcnl0aGluZw=="},
	}
	if !reflect.DeepEqual(sent, want) {
		t.Errorf("sent is %v, want %v", sent, want)
	}
	if err := w.Edit(t.Context(), ref, chat.Message{Text: chat.Text{{Text: "denied"}}}); err != nil {
		t.Fatal(err)
	}
	sent = o.last(t)
	if sent["type"] != "edit" || sent["message"] != "theirs-1" || sent["text"] != "denied" || sent["id"] == id {
		t.Errorf("the edit is %v", sent)
	}
}

func TestWhoNamesNoMessageKnowsItByItsKey(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`{}`, `{"message": ""}`} {
		ref, err := open(t, newOther(t, says(202, answer)).URL).Post(t.Context(), chat.Place{}, asked, "k1")
		if err != nil || ref.Message != "k1" {
			t.Errorf("after %s it is shown at %v, %v", answer, ref, err)
		}
	}
}

func TestANoOfTheOtherSideIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		is     func(error) bool
	}{
		"busy":          {says(429, "", "Retry-After", "7"), busy(7 * time.Second)},
		"busy for long": {says(503, "", "Retry-After", "9"), busy(9 * time.Second)},
		"busy somehow":  {says(429, ""), busy(5 * time.Second)},
		"down":          {says(503, ""), passes},
		"broken":        {says(500, ""), passes},
		"hung up":       {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, passes},
		"gone":          {says(410, ""), func(err error) bool { return errors.Is(err, chat.ErrGone) }},
		"unsigned":      {says(401, `{"message": "bad signature"}`), refused("the same webhook.secret", "bad signature")},
		"elsewhere":     {says(404, ""), refused("webhook.url")},
		"moved":         {says(302, "", "Location", "http://127.0.0.1:1/"), refused("webhook.url")},
		"repeating": {func(w http.ResponseWriter, r *http.Request) {
			says(400, `{"message": "`+r.Header.Get("Authorization")+`"}`)(w, r)
		}, refused("[secret]")},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOther(t, c.answer)
			err := open(t, o.URL).Edit(t.Context(), chat.Ref{Message: "m"}, asked)
			if n := o.times(); err == nil || !c.is(err) || strings.Contains(err.Error(), "4711") || n != 1 {
				t.Errorf("after %d attempts it came to %v", n, err)
			}
		})
	}
}

func busy(after time.Duration) func(error) bool {
	return func(err error) bool {
		var busy *chat.Busy
		return errors.As(err, &busy) && busy.After == after
	}
}

func refused(words ...string) func(error) bool {
	return func(err error) bool {
		var no *chat.Refused
		for _, word := range words {
			if !strings.Contains(err.Error(), word) {
				return false
			}
		}
		return errors.As(err, &no)
	}
}

func passes(err error) bool {
	return !refused()(err) && !busy(5*time.Second)(err) && !errors.Is(err, chat.ErrGone)
}

func TestACheckNamesWhomTheOtherSideDoesNotKnow(t *testing.T) {
	t.Parallel()
	o := newOther(t, says(200, `{"unknown": ["w2"]}`))
	found := open(t, o.URL).Check(t.Context(), []chat.Person{{ID: "w1", Name: "ana"}, {ID: "w2", Name: "ben"}})
	if sent := o.last(t); sent["type"] != "check" || fmt.Sprint(sent["users"]) != "[w1 w2]" {
		t.Errorf("sent is %v", sent)
	}
	if len(found) != 3 || found[0].Err != nil || found[1].Err != nil || found[2].Err == nil ||
		found[2].What != "ben (w2) is known to the webhook" {
		t.Errorf("found is %v", found)
	}
	o.answer = says(401, "")
	found = open(t, o.URL).Check(t.Context(), nil)
	if len(found) != 1 || found[0].Err == nil {
		t.Errorf("found is %v", found)
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	if _, err := webhook.New(webhook.Config{}); err == nil || err.Error() != "webhook config lacks Listen, Log, Secret, URL" {
		t.Errorf("it says %v", err)
	}
}
