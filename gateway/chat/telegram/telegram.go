package telegram

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/config/required"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// Config says which bot it is, and how the service is reached.
type Config struct {
	// Token is asked for at each call; it is as BotFather gave it.
	Token func() (bailiff.Secret, error)
	// Approvals is the id of the chat that [Telegram.Check] looks at; empty looks at none.
	Approvals string
	// URL is the Bot API's address; empty means Telegram's own.
	URL string
	// Webhook is where the service sends updates; nil means polling.
	Webhook *Webhook
	Log     *slog.Logger
}

// Webhook is a listener that the service calls.
type Webhook struct {
	// URL is what the service calls, Listen the host:port where that comes in.
	URL, Listen string
	// Secret is what the service sends along: up to 256 letters, digits, - and _.
	Secret func() (bailiff.Secret, error)
}

const (
	// longestCall is how long a call may take that waits for nothing.
	longestCall = 30 * time.Second
	// longestPoll is how long the service may hold a poll.
	longestPoll = 50 * time.Second
	// firstPause is the longest first pause before connecting again.
	firstPause = 500 * time.Millisecond
	// remembered entries are kept in memory, of each kind.
	remembered = 4096
)

// Telegram is one bot.
type Telegram struct {
	config Config
	http   *http.Client
	me     atomic.Pointer[models.User]
	// posted are the messages by their keys, attached the files of messages that are not
	// shown yet.
	posted   *recent.Map[string, chat.Ref]
	attached *recent.Map[string, int]
	// asked are the questions of buttons, by token; questions are those that wait for a
	// reply, by message.
	asked     *recent.Map[string, string]
	questions *recent.Map[string, question]
	asking    sync.RWMutex
	// pause is firstPause, keep longestPoll, and look how often the webhook is looked at.
	pause, keep, look time.Duration
}

var (
	_ chat.Platform = (*Telegram)(nil)
	_ chat.Checker  = (*Telegram)(nil)
)

// New makes the bot, without a call to the service.
func New(c Config) (*Telegram, error) {
	if err := required.Fields("telegram", map[string]bool{
		"Token":          c.Token == nil,
		"Webhook.URL":    c.Webhook != nil && c.Webhook.URL == "",
		"Webhook.Listen": c.Webhook != nil && c.Webhook.Listen == "",
		"Webhook.Secret": c.Webhook != nil && c.Webhook.Secret == nil,
	}); err != nil {
		return nil, err
	}
	c.URL = strings.TrimRight(cmp.Or(c.URL, "https://api.telegram.org"), "/")
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return &Telegram{
		config: c, http: newHTTP(), pause: firstPause, keep: longestPoll, look: time.Minute,
		posted: recent.New[string, chat.Ref](remembered), attached: recent.New[string, int](remembered),
		asked: recent.New[string, string](remembered), questions: recent.New[string, question](remembered),
	}, nil
}

// Post shows a message.
func (t *Telegram) Post(ctx context.Context, at chat.Place, m chat.Message, key string) (chat.Ref, error) {
	if key != "" {
		key += " " + at.Chat + " " + at.Thread
	}
	if ref, known := t.posted.Get(key); known {
		return ref, nil
	}
	thread, err := threadOf(at)
	if err != nil {
		return chat.Ref{}, err
	}
	params := &bot.SendMessageParams{ChatID: at.Chat, MessageThreadID: thread, LinkPreviewOptions: noPreview(),
		ReplyMarkup: t.keyboard(m.Buttons)}
	params.Text, params.Entities = render(m.Text)
	if m.File != nil {
		file, err := t.attach(ctx, at.Chat, thread, *m.File, key)
		if err != nil {
			return chat.Ref{}, chatError(err)
		}
		params.ReplyParameters = &models.ReplyParameters{MessageID: file, AllowSendingWithoutReply: true}
	}
	id, err := send(ctx, t, (*bot.Bot).SendMessage, params)
	if err != nil {
		return chat.Ref{}, chatError(err)
	}
	ref := chat.Ref{Place: at, Message: strconv.Itoa(id)}
	if key != "" {
		t.posted.Put(key, ref)
	}
	return ref, nil
}

// attach sends a file, once for a key.
func (t *Telegram) attach(ctx context.Context, to string, thread int, f chat.File, key string) (int, error) {
	if id, known := t.attached.Get(key); known {
		return id, nil
	}
	id, err := send(ctx, t, (*bot.Bot).SendDocument, &bot.SendDocumentParams{
		ChatID: to, MessageThreadID: thread, DisableContentTypeDetection: true,
		Document: &models.InputFileUpload{Filename: f.Name, Data: strings.NewReader(string(f.Content))},
	})
	if err == nil && key != "" {
		t.attached.Put(key, id)
	}
	return id, err
}

// Edit replaces a message.
func (t *Telegram) Edit(ctx context.Context, at chat.Ref, m chat.Message) error {
	id, err := strconv.Atoi(at.Message)
	if err != nil {
		return &chat.Refused{Reason: fmt.Sprintf("%q is no message's id at Telegram; want a number", at.Message)}
	}
	params := &bot.EditMessageTextParams{ChatID: at.Chat, MessageID: id, LinkPreviewOptions: noPreview(),
		ReplyMarkup: t.keyboard(m.Buttons)}
	params.Text, params.Entities = render(m.Text)
	if _, err = send(ctx, t, (*bot.Bot).EditMessageText, params); isUnchanged(err) {
		return nil
	}
	return chatError(err)
}

// Thread is where the message is: a topic goes on by itself, and elsewhere Telegram has
// no threads.
func (*Telegram) Thread(_ context.Context, from chat.Ref, _ string) (chat.Place, error) {
	return from.Place, nil
}

func threadOf(at chat.Place) (int, error) {
	if at.Thread == "" {
		return 0, nil
	}
	thread, err := strconv.Atoi(at.Thread)
	if err != nil || thread <= 0 {
		return 0, &chat.Refused{Reason: fmt.Sprintf("%q is no topic's id at Telegram; want a number", at.Thread)}
	}
	return thread, nil
}

func noPreview() *models.LinkPreviewOptions {
	yes := true
	return &models.LinkPreviewOptions{IsDisabled: &yes}
}

// maxButtonWidth is how many characters of labels stand in one row.
const maxButtonWidth = 28

// asksSign is behind the token of a button that asks, in its callback_data: a bot that
// started again knows then too that it must ask.
const asksSign = "?"

// markup is of buttons that send something back and nothing else: those of the library
// have a field in each that says otherwise.
type markup struct {
	Rows [][]inlineButton `json:"inline_keyboard"`
}

type inlineButton struct {
	Text  string `json:"text"`
	Data  string `json:"callback_data"`
	Style string `json:"style,omitempty"`
}

// keyboard is nil, which takes away what there was, if there are no buttons.
func (t *Telegram) keyboard(buttons []chat.Button) models.ReplyMarkup {
	if len(buttons) == 0 {
		return nil
	}
	var m markup
	room := 0
	for _, b := range buttons {
		shown := inlineButton{Text: cmp.Or(clean(b.Label), "…"), Data: b.Token, Style: "danger"}
		if b.Yes {
			shown.Style = "success"
		}
		if b.Asks != "" {
			shown.Data += asksSign
			t.asked.Put(b.Token, b.Asks)
		}
		width := len([]rune(shown.Text))
		if room -= width; room < 0 || len(m.Rows) == 0 {
			m.Rows, room = append(m.Rows, nil), maxButtonWidth-width
		}
		m.Rows[len(m.Rows)-1] = append(m.Rows[len(m.Rows)-1], shown)
	}
	return m
}
