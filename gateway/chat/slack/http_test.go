package slack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	neturl "net/url"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack/slacktest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// byHTTP is an app that Slack calls, at an address.
func byHTTP(t *testing.T) (*slack.Slack, *slacktest.Server, *chattest.Inbox, string) {
	t.Helper()
	address := porttest.Address(t)
	s, server := app(t, func(c *slack.Config) {
		c.AppToken, c.Listen, c.SigningSecret = nil, address, secret(slacktest.SigningSecret)
	})
	in := run(t, s)
	server.CallAt("http://" + address + "/slack")
	return s, server, in, "http://" + address + "/slack"
}

func TestByHTTPPeopleWriteClickAndCommand(t *testing.T) {
	t.Parallel()
	s, server, in, _ := byHTTP(t)
	in.Answer = func(chat.Click) chat.Text { return plain("Noted.") }
	server.Mentions()
	id := server.Write("U1", "C1", "", "@bailiff echo 'a&b' <c>")
	for range 2 {
		if said := chattest.Next(t, in.Messages); said.Message != id || said.Text != "echo 'a&b' <c>" || !said.Mentioned {
			t.Errorf("told was %+v", said)
		}
	}
	server.Command("U1", "C1", "/bailiff new")
	if said := chattest.Next(t, in.Messages); said.Text != "/new" || said.By.ID != "U1" {
		t.Errorf("told was %+v", said)
	}
	ref, err := s.Post(t.Context(), channel, chat.Message{Text: plain("May it?"),
		Buttons: []chat.Button{{Label: "No", Token: "n", Asks: "Why not?"}}}, "k")
	if err != nil {
		t.Fatal(err)
	}
	server.Click("U2", "C1", ref.Message, "No")
	server.Until(func() bool { return server.Question("U2") != "" })
	server.Answer("U2", "never & nowhere")
	if click := chattest.Next(t, in.Clicks); click.By.ID != "U2" || click.On != ref || click.Token != "n" ||
		click.Reason != "never & nowhere" {
		t.Errorf("the click is %v", click)
	}
	server.Until(func() bool { return len(server.Told("U2")) == 1 })
}

// call is one that anybody could make.
func call(t *testing.T, method, url string, header http.Header, body string) (status int, said string) {
	t.Helper()
	request, err := http.NewRequest(method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

const event = `{"type":"event_callback","team_id":"T01","event":{"type":"message","channel":"D1","channel_type":"im",` +
	`"user":"U1","ts":"7.7","text":"rm -rf /"}}`

func TestACallThatIsNotSignedByWhoHasTheSecretIsRefused(t *testing.T) {
	t.Parallel()
	_, _, in, url := byHTTP(t)
	now := time.Now()
	sign := func(change func(http.Header)) http.Header {
		header := slacktest.Sign("application/json", []byte(event), now)
		change(header)
		return header
	}
	for name, header := range map[string]http.Header{
		"nothing":              {"Content-Type": {"application/json"}},
		"no time":              sign(func(h http.Header) { h.Del("X-Slack-Request-Timestamp") }),
		"no signature":         sign(func(h http.Header) { h.Del("X-Slack-Signature") }),
		"another time":         sign(func(h http.Header) { h.Set("X-Slack-Request-Timestamp", "1") }),
		"a time that is none":  sign(func(h http.Header) { h.Set("X-Slack-Request-Timestamp", "now") }),
		"another body":         slacktest.Sign("application/json", []byte(event+" "), now),
		"another version":      sign(func(h http.Header) { h.Set("X-Slack-Signature", "v1"+h.Get("X-Slack-Signature")[2:]) }),
		"a part of it":         sign(func(h http.Header) { h.Set("X-Slack-Signature", h.Get("X-Slack-Signature")[:40]) }),
		"no hexadecimal":       sign(func(h http.Header) { h.Set("X-Slack-Signature", "v0="+strings.Repeat("x", 64)) }),
		"six minutes ago":      slacktest.Sign("application/json", []byte(event), now.Add(-6*time.Minute)),
		"in six minutes":       slacktest.Sign("application/json", []byte(event), now.Add(6*time.Minute)),
		"a time beyond counts": slacktest.Sign("application/json", []byte(event), time.Unix(1<<61, 0)),
	} {
		if status, said := call(t, http.MethodPost, url, header, event); status != http.StatusUnauthorized {
			t.Errorf("%s came to %d %s", name, status, said)
		}
	}
	if len(in.Messages) > 0 {
		t.Errorf("told was %+v", <-in.Messages)
	}
}

func TestASignedCallIsTakenOnce(t *testing.T) {
	t.Parallel()
	_, _, in, url := byHTTP(t)
	header := slacktest.Sign("application/json", []byte(event), time.Now().Add(-4*time.Minute))
	for n, want := range []int{http.StatusOK, http.StatusConflict, http.StatusConflict} {
		if status, said := call(t, http.MethodPost, url, header.Clone(), event); status != want {
			t.Errorf("time %d came to %d %s, want %d", n+1, status, said, want)
		}
	}
	shouting := header.Clone() // the same signature in other letters
	shouting.Set("X-Slack-Signature", "v0="+strings.ToUpper(header.Get("X-Slack-Signature")[3:]))
	if status, _ := call(t, http.MethodPost, url, shouting, event); status == http.StatusOK {
		t.Error("in capital letters it was taken again")
	}
	_ = chattest.Next(t, in.Messages)
	if len(in.Messages) > 0 {
		t.Errorf("told again was %+v", <-in.Messages)
	}
}

func TestCallsThatAreNoneOfSlacksKinds(t *testing.T) {
	t.Parallel()
	_, _, in, url := byHTTP(t)
	form := "application/x-www-form-urlencoded"
	for name, c := range map[string]struct {
		method, kind, body string
		status             int
		says               string
	}{
		"the question whether it is Slack's": {http.MethodPost, "application/json",
			`{"type":"url_verification","token":"x","challenge":"3eZbrw<&"}`, 200, "3eZbrw<&"},
		"the question whether it is there": {http.MethodPost, form, "ssl_check=1&token=x", 200, ""},
		"by GET":                           {http.MethodGet, "application/json", "", 405, "by POST"},
		"no JSON":                          {http.MethodPost, "application/json", "{", 400, "no JSON"},
		"no form":                          {http.MethodPost, form, "payload=%zz", 400, "no form"},
		"an answer that is none":           {http.MethodPost, form, "payload=%7B", 200, ""},
		"another kind":                     {http.MethodPost, "text/plain", "x", 415, "JSON or a form"},
		"too much":                         {http.MethodPost, "application/json", strings.Repeat(" ", 1<<20+1), 413, "too long"},
		"an event of another workspace":    {http.MethodPost, "application/json", strings.ReplaceAll(event, "T01", "T02"), 200, ""},
		"a command of another workspace": {http.MethodPost, form,
			"command=/bailiff&text=status&team_id=T02&user_id=U1&channel_id=C1&trigger_id=1.2.c", 200, ""},
	} {
		status, said := call(t, c.method, url, slacktest.Sign(c.kind, []byte(c.body), time.Now()), c.body)
		if status != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%s came to %d %q, want %d with %q", name, status, said, c.status, c.says)
		}
	}
	if len(in.Messages) > 0 || len(in.Clicks) > 0 {
		t.Errorf("%d were told, %d clicks came", len(in.Messages), len(in.Clicks))
	}
}

func TestAPlaceThatIsTakenIsTriedAgain(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", porttest.Address(t)) // which no other program takes once this one is closed
	if err != nil {
		t.Fatal(err)
	}
	s, _ := app(t, func(c *slack.Config) { c.Listen, c.SigningSecret = listener.Addr().String(), secret("s") })
	in := chattest.NewInbox()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, in) }()
	if err := chattest.Next(t, in.Connections); err == nil {
		t.Error("it is said to stand")
	}
	_ = listener.Close()
	for chattest.Next(t, in.Connections) != nil {
	}
	cancel()
	if err := chattest.Next(t, ended); err != nil {
		t.Errorf("it ended by %v", err)
	}
}

// open is an address that lets in whoever knows it.
const open = "a-place-that-nobody-else-may-know"

func TestAnAddressThatLetsInWhoeverKnowsItIsInNoError(t *testing.T) {
	t.Parallel()
	upload := ""
	base := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/auth.test":
			_, _ = io.WriteString(w, `{"ok":true,"user_id":"U0","team_id":"T01"}`)
		case "/api/files.getUploadURLExternal":
			_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "file_id": "F1", "upload_url": upload})
		default:
			panic(http.ErrAbortHandler)
		}
	})
	for name, at := range map[string]string{
		"where nobody answers": base + "/" + open, "elsewhere": "http://elsewhere.test/" + open, "what is none": base + "/%zz" + open,
	} {
		upload = at
		s, in, url := calledFor(t, base)
		_, err := s.Post(t.Context(), channel, chat.Message{Text: plain("x"), File: &chat.File{Name: "a.txt", Content: []byte("a")}}, "k")
		if err == nil || strings.Contains(err.Error(), open) {
			t.Errorf("uploading to %s came to %v", name, err)
		}
		form := neturl.Values{"command": {"/bailiff"}, "text": {"status"}, "team_id": {"T01"}, "user_id": {"U1"}, "channel_id": {"C1"},
			"trigger_id": {"1.2.c"}, "response_url": {at}}.Encode()
		header := slacktest.Sign("application/x-www-form-urlencoded", []byte(form), time.Now())
		if status, said := call(t, http.MethodPost, url, header, form); status != http.StatusOK {
			t.Fatalf("the command came to %d %s", status, said)
		}
		if err := chattest.Next(t, in.Messages).Ephemeral(t.Context(), plain("x")); err == nil || strings.Contains(err.Error(), open) {
			t.Errorf("answering at %s came to %v", name, err)
		}
	}
}

// calledFor is an app that is called, and calls somebody.
func calledFor(t *testing.T, base string) (*slack.Slack, *chattest.Inbox, string) {
	t.Helper()
	where := porttest.Address(t)
	s, _ := app(t, func(c *slack.Config) {
		c.AppToken, c.Listen, c.SigningSecret, c.URL = nil, where, secret(slacktest.SigningSecret), base+"/api/"
	})
	return s, run(t, s), "http://" + where
}

func TestWhyCallsAreRefusedIsSaidWhereTheSecretCannotBeRead(t *testing.T) {
	t.Parallel()
	for why, read := range map[string]slack.Credential{
		"no such file": func() (bailiff.Secret, error) { return bailiff.Secret{}, errors.New("no such file") }, "it is empty": secret(""),
	} {
		log, where := &chattest.Log{}, porttest.Address(t)
		s, _ := app(t, func(c *slack.Config) {
			c.AppToken, c.Listen, c.SigningSecret, c.Log = nil, where, read, slog.New(slog.NewTextHandler(log, nil))
		})
		run(t, s)
		status, _ := call(t, http.MethodPost, "http://"+where, slacktest.Sign("application/json", []byte(event), time.Now()), event)
		if status != http.StatusInternalServerError {
			t.Errorf("it came to %d", status)
		}
		if said := log.String(); !strings.Contains(said, "level=ERROR") || !strings.Contains(said, "without the signing secret") ||
			!strings.Contains(said, why) {
			t.Errorf("the log has %s", said)
		}
	}
}
