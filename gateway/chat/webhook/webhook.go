package webhook

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/config/required"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Config says where what is posted is sent to, and where answers come in.
type Config struct {
	// URL is sent what is posted.
	URL string
	// Token reads what is sent along as a bearer token; nil sends none.
	Token func() (bailiff.Secret, error)
	// Roots are the authorities that may certify the service at URL; nil are this machine's.
	Roots *x509.CertPool
	// Secret reads what both sides sign by; it is asked for it at each use.
	Secret func() (bailiff.Secret, error)
	// Listen is the host:port where answers come in.
	Listen string
	Log    *slog.Logger
}

// maxSeen answers are remembered, each until its signature expires.
const maxSeen = 100_000

// Webhook is the other side, as bailiff sees it.
type Webhook struct {
	cfg    Config
	client *httpapi.Client
	seen   *chat.Once

	mu      sync.Mutex
	address string
}

var (
	_ chat.Platform = (*Webhook)(nil)
	_ chat.Checker  = (*Webhook)(nil)
)

// New makes a client of the service, without a call to it.
func New(cfg Config) (*Webhook, error) {
	absent := map[string]bool{"URL": cfg.URL == "", "Secret": cfg.Secret == nil, "Listen": cfg.Listen == "", "Log": cfg.Log == nil}
	if err := required.Fields("webhook", absent); err != nil {
		return nil, err
	}
	client := httpapi.New(httpapi.Config{Name: "the webhook", Credential: cfg.Token, Roots: cfg.Roots, Reason: reason})
	return &Webhook{cfg: cfg, client: client, seen: chat.NewOnce(maxSeen)}, nil
}

// Post sends a message. The other side keeps what came twice under one key once.
func (w *Webhook) Post(ctx context.Context, _ chat.Place, m chat.Message, key string) (chat.Ref, error) {
	n := noticeOf("post", m)
	n.Key = key
	var shown struct {
		Message string `json:"message"`
	}
	if err := w.send(ctx, n, &shown); err != nil {
		return chat.Ref{}, err
	}
	if shown.Message == "" {
		shown.Message = key
	}
	return chat.Ref{Message: shown.Message}, nil
}

// Edit sends what a message is to show now.
func (w *Webhook) Edit(ctx context.Context, at chat.Ref, m chat.Message) error {
	n := noticeOf("edit", m)
	n.Message = at.Message
	return w.send(ctx, n, nil)
}

// Thread is where the message is: there are none.
func (w *Webhook) Thread(_ context.Context, from chat.Ref, _ string) (chat.Place, error) {
	return from.Place, nil
}

// Check asks the other side whether it takes what is signed, and whom it does not know.
func (w *Webhook) Check(ctx context.Context, people []chat.Person) []chat.Finding {
	n := notice{Type: "check"}
	for _, p := range people {
		n.Users = append(n.Users, p.ID)
	}
	var of struct {
		Unknown []string `json:"unknown"`
	}
	err := w.send(ctx, n, &of)
	found := []chat.Finding{{What: "a signed notice to the webhook", Err: err}}
	for _, p := range people {
		f := chat.Finding{What: fmt.Sprintf("%s (%s) is known to the webhook", p.Name, p.ID), Err: err}
		if slices.Contains(of.Unknown, p.ID) {
			f.Err = errors.New("it does not know them: say there who that is, or write under people, in webhook, whom it knows")
		}
		found = append(found, f)
	}
	return found
}

// notice is what the other side is sent.
type notice struct {
	Type string `json:"type"`
	// ID is of this attempt to send it.
	ID string `json:"id"`
	// Key is a message's own; Message is the one that is edited.
	Key     string   `json:"key,omitempty"`
	Message string   `json:"message,omitempty"`
	Text    string   `json:"text,omitempty"`
	Pieces  []piece  `json:"pieces,omitempty"`
	Buttons []button `json:"buttons,omitempty"`
	File    *file    `json:"file,omitempty"`
	Users   []string `json:"users,omitempty"`
}

type piece struct {
	Style string `json:"style"`
	Text  string `json:"text"`
}

type button struct {
	Label string `json:"label"`
	Token string `json:"token"`
	Word  string `json:"word"`
	Sign  string `json:"sign,omitempty"`
	Asks  string `json:"asks,omitempty"`
	Yes   bool   `json:"yes"`
}

type file struct {
	Name string `json:"name"`
	// Content is in base64.
	Content []byte `json:"content"`
}

var styles = map[chat.Style]string{chat.Plain: "plain", chat.Strong: "strong", chat.Code: "code", chat.Block: "block"}

func noticeOf(kind string, m chat.Message) notice {
	n := notice{Type: kind, Text: m.Text.Plain()}
	for _, p := range m.Text {
		n.Pieces = append(n.Pieces, piece{styles[p.Style], p.Text})
	}
	for _, b := range m.Buttons {
		n.Buttons = append(n.Buttons, button{b.Label, b.Token, b.Word, b.Sign, b.Asks, b.Yes})
	}
	if m.File != nil {
		n.File = &file{m.File.Name, m.File.Content}
	}
	return n
}

// send sends a notice, signed, once.
func (w *Webhook) send(ctx context.Context, n notice, into any) error {
	secret, err := w.cfg.Secret()
	if err != nil {
		return err
	}
	n.ID = rand.Text()
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return fault(w.client.Do(ctx, call(w.cfg.URL, secret, body, into)))
}
