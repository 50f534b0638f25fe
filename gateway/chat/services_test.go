package chat_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix/matrixtest"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack/slacktest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// service is a service with a chat of approvals in it, as the test with many approvals needs it.
type service struct {
	name     string
	platform *watched
	at       string
	// ana and ben are their ids there.
	ana, ben string
	shown    func() []notice
	// press has a client of somebody's send a button's token, or its sign.
	press func(user, message, token, sign string)
	// doubles says that the service cannot tell what is posted twice.
	doubles bool
}

// notice is a message as people see it.
type notice struct {
	id, text string
	answered bool
}

// watched notes the tokens of the buttons that are posted, by the headline and the label.
type watched struct {
	chat.Platform
	mu     sync.Mutex
	tokens map[string]string
}

func (w *watched) Post(ctx context.Context, at chat.Place, m chat.Message, key string) (chat.Ref, error) {
	w.mu.Lock()
	for _, b := range m.Buttons {
		w.tokens[m.Text[0].Text+b.Label] = b.Token
	}
	w.mu.Unlock()
	return w.Platform.Post(ctx, at, m, key)
}

func (w *watched) token(id, label string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tokens["Approval "+id+" is asked for"+label]
}

func newToken(text string) func() (bailiff.Secret, error) {
	return func() (bailiff.Secret, error) { return bailiff.NewSecret(text), nil }
}

// faults let one call in twenty fail, in one of three ways.
type faults struct{ met atomic.Int64 }

func (f *faults) next() (kind int) {
	if rand.N(20) != 0 {
		return 0
	}
	f.met.Add(1)
	return 1 + rand.N(3)
}

func slackService(t *testing.T, f *faults) service {
	s := slacktest.New(t)
	s.Channel("C1", slacktest.Bot, "UANA", "UBEN")
	s.Fail(func(method string) slacktest.Fault {
		if !strings.HasPrefix(method, "chat.") {
			return slacktest.Fault{}
		}
		return []slacktest.Fault{{}, {Status: 429, RetryAfter: 1}, {Status: 502}, {Drop: true, Done: true}}[f.next()]
	})
	p, err := slack.New(slack.Config{BotToken: newToken(slacktest.Token), AppToken: newToken(slacktest.AppToken), URL: s.URL(),
		Approvals: "C1"})
	if err != nil {
		t.Fatal(err)
	}
	return service{name: "slack", platform: &watched{Platform: p, tokens: map[string]string{}}, at: "C1", ana: "UANA", ben: "UBEN",
		shown: func() (all []notice) {
			for _, m := range s.Messages("C1") {
				all = append(all, notice{m.ID, m.Text, len(m.Buttons) == 0})
			}
			return all
		}, press: func(user, message, token, _ string) {
			s.Press(user, "C1", map[string]any{"type": "message", "user": slacktest.Bot, "ts": message}, token, token)
		}}
}

func discordService(t *testing.T, f *faults) service {
	s := discordtest.New(t)
	s.Patience = time.Until(awaittest.End(t)) // its own tests want the three seconds, of one answer at a time
	s.Fail(func(method string) discordtest.Fault {
		if !strings.Contains(method, "/messages") {
			return discordtest.Fault{}
		}
		return []discordtest.Fault{{}, {Status: 429, RetryAfter: time.Second}, {Status: 502}, {Drop: true, After: true}}[f.next()]
	})
	p, err := discord.New(discord.Config{Token: newToken(s.Token), URL: s.URL(), Approvals: discordtest.Channel,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return service{name: "discord", platform: &watched{Platform: p, tokens: map[string]string{}}, at: discordtest.Channel,
		ana: "800000000000000001", ben: "800000000000000002", shown: func() (all []notice) {
			for _, m := range s.Shown(discordtest.Channel) {
				all = append(all, notice{m.ID, m.Text, len(m.Buttons) == 0})
			}
			return all
		}, press: func(user, message, token, _ string) { s.Forge(user, discordtest.Channel, message, token) }}
}

func telegramService(t *testing.T, f *faults) service {
	s := telegramtest.New(t)
	s.Group("-1001", "42", "43")
	s.Fail(func(method string) telegramtest.Fault {
		if method != "sendMessage" && method != "editMessageText" {
			return telegramtest.Fault{}
		}
		return []telegramtest.Fault{{}, {Code: 429, After: 1}, {Code: 502}, {Drop: true, Late: true}}[f.next()]
	})
	p, err := telegram.New(telegram.Config{Token: newToken(s.Token), URL: s.URL(), Approvals: "-1001", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return service{name: "telegram", platform: &watched{Platform: p, tokens: map[string]string{}}, at: "-1001", ana: "42", ben: "43",
		doubles: true, shown: func() (all []notice) {
			for _, m := range s.Messages("-1001") {
				all = append(all, notice{m.ID, m.Text, len(m.Buttons) == 0})
			}
			return all
		}, press: func(user, message, token, _ string) { s.Press(user, "-1001", message, token) }}
}

func matrixService(t *testing.T, f *faults) service {
	s := matrixtest.New(t)
	room := s.Room("approvals", "ana", "ben")
	var way matrixtest.Faults // on bailiff's own way to the homeserver
	way.Fail(func(method string) matrixtest.Fault {
		if method != "send" {
			return matrixtest.Fine
		}
		return []matrixtest.Fault{matrixtest.Fine, matrixtest.Busy, matrixtest.Broken, matrixtest.Dropped}[f.next()]
	})
	to, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(way.Around(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ErrorLog: log.New(io.Discard, "", 0)}))
	t.Cleanup(proxy.Close)
	p, err := matrix.New(matrix.Config{URL: proxy.URL, Token: newToken(s.Bailiff().Token), Approvals: room, Memory: &memory{},
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return service{name: "matrix", platform: &watched{Platform: p, tokens: map[string]string{}}, at: room, ana: "@ana:" + matrixtest.Host,
		ben: "@ben:" + matrixtest.Host, shown: func() (all []notice) {
			for _, m := range s.Messages(room) {
				if strings.Contains(m.Text, "Approval a-") {
					all = append(all, notice{m.ID, m.Text, !strings.Contains(m.Text, "is asked for")})
				}
			}
			return all
		}, press: func(user, message, _, sign string) { s.Click(user, room, message, sign) }}
}

// memory is what an account remembers as long as the test lasts.
type memory struct{ all sync.Map }

func (m *memory) Recall(key string) string {
	value, _ := m.all.Load(key)
	text, _ := value.(string)
	return text
}

func (m *memory) Remember(key, value string) error {
	m.all.Store(key, value)
	return nil
}

// everywhere is a router by which ana and ben are asked at all services.
type everywhere struct{ services []string }

func (e everywhere) Plan(bailiff.Claim) (api.Plan, error) {
	return api.Plan{Route: "all", Approvers: []string{"ana", "ben"}, Channels: e.services, Quorum: 1, Timeout: time.Hour}, nil
}

func (everywhere) May(who bailiff.Approver, _ bailiff.Claim, _ string) error {
	if who.Person == "" {
		return fmt.Errorf("not yours to answer: %s belongs to no person in people", who.Credential)
	}
	return nil
}

// votes counts the votes that the decision log is told of, by approval.
type votes struct {
	mu  sync.Mutex
	all map[string]int
}

func (v *votes) Record(_ context.Context, e api.Event) error {
	if step, _, _ := strings.Cut(e.Custom.Message, ":"); step == "vote" {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.all[e.Custom.Approval.ID]++
	}
	return nil
}

type uncounted struct{}

func (uncounted) ChatPosted(string, string)  {}
func (uncounted) ChatClicked(string, string) {}
func (uncounted) ChatDown(string, bool)      {}

var manyApprovals = backendtest.Rounds(80, 1000)
