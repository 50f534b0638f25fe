package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/bailiff-dev/bailiff/gateway/chat"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// wanted are the updates that are asked for.
var wanted = []string{models.AllowedUpdateMessage, models.AllowedUpdateCallbackQuery}

// update is as much of one as matters here. The library's type has all of it, and cannot
// be read where a message has a part that is newer than the library.
type update struct {
	ID      int64    `json:"update_id"`
	Message *message `json:"message"`
	Click   *click   `json:"callback_query"`
}

type message struct {
	ID         int                    `json:"message_id"`
	Thread     int                    `json:"message_thread_id"`
	InTopic    bool                   `json:"is_topic_message"`
	From       *models.User           `json:"from"`
	SenderChat *struct{}              `json:"sender_chat"`
	ViaBot     *struct{}              `json:"via_bot"`
	Forwarded  *struct{}              `json:"forward_origin"`
	Chat       models.Chat            `json:"chat"`
	Text       string                 `json:"text"`
	Entities   []models.MessageEntity `json:"entities"`
	Reply      *message               `json:"reply_to_message"`
	Markup     struct {
		Rows [][]inlineButton `json:"inline_keyboard"`
	} `json:"reply_markup"`
}

// click is a callback query.
type click struct {
	ID      string      `json:"id"`
	From    models.User `json:"from"`
	Message *message    `json:"message"`
	Data    string      `json:"data"`
}

// mailbox hands updates on, to an inbox.
type mailbox struct {
	*Telegram
	inbox chat.Inbox
	// working are answers that are on their way, slots how many there may be at once.
	working *sync.WaitGroup
	slots   chan struct{}
}

// take hands on one update, whatever it is, and returns its id.
func (b mailbox) take(ctx context.Context, raw json.RawMessage) (id int64) {
	defer func() {
		if cause := recover(); cause != nil {
			b.config.Log.ErrorContext(ctx, "taking an update of Telegram's panicked", "update", id, "cause", cause, "stack", string(debug.Stack()))
		}
	}()
	var numbered struct {
		ID int64 `json:"update_id"`
	}
	if err := json.Unmarshal(raw, &numbered); err != nil {
		b.config.Log.DebugContext(ctx, "an update of Telegram's has no number", "error", err)
		return 0
	}
	id = numbered.ID
	var u update
	switch err := json.Unmarshal(raw, &u); {
	case err != nil:
		b.config.Log.DebugContext(ctx, "an update of Telegram's cannot be read", "update", id, "error", err)
	case u.Message != nil:
		b.heard(ctx, u.Message)
	case u.Click != nil:
		b.clicked(ctx, u.Click)
	}
	return id
}

// heard takes what somebody wrote.
func (b mailbox) heard(ctx context.Context, m *message) {
	me := b.me.Load()
	if m.From == nil || m.From.IsBot || m.SenderChat != nil || m.ViaBot != nil || m.Forwarded != nil || m.Text == "" {
		return
	}
	toBot := m.Reply != nil && m.Reply.From != nil && m.Reply.From.ID == me.ID
	if toBot && strings.HasPrefix(m.Reply.Text, questionSign) {
		b.reasoned(ctx, m)
		return
	}
	r := read(m.Text, m.Entities, me)
	if r.elsewhere {
		return
	}
	if r.text == start && (r.mentioned || m.private()) {
		b.work(func() { b.introduce(ctx, m) })
	}
	b.inbox.Said(ctx, chat.Said{
		Ref: m.ref(), Kind: m.kind(), By: person(*m.From), Text: r.text, Mentioned: r.mentioned || toBot,
		Ephemeral: func(ctx context.Context, t chat.Text) error { return b.whisper(ctx, m, t) },
	})
}

// clicked takes a click on a button.
func (b mailbox) clicked(ctx context.Context, c *click) {
	if c.From.IsBot || c.Data == "" {
		return
	}
	token, asks := strings.CutSuffix(c.Data, asksSign)
	given := chat.Click{By: person(c.From), Token: token}
	if c.Message != nil {
		given.On = c.Message.ref()
	}
	if asks && c.Message != nil {
		b.asking.RLock()
		b.work(func() {
			defer b.asking.RUnlock()
			b.question(ctx, c, given)
		})
		return
	}
	said := b.inbox.Clicked(ctx, given)
	b.work(func() { b.answer(ctx, c, said) })
}

// mostAnswers are on their way at once; then the next update waits.
const mostAnswers = 64

// work does what need not hold up the next update.
func (b mailbox) work(do func()) {
	b.slots <- struct{}{}
	b.working.Go(func() {
		defer func() {
			<-b.slots
			if cause := recover(); cause != nil {
				b.config.Log.Error("answering at Telegram panicked", "cause", cause, "stack", string(debug.Stack()))
			}
		}()
		do()
	})
}

// longestAlert is how much fits into an answer to a click, in units of UTF-16.
const longestAlert = 200

// answer tells something to who clicked. What is too long for that is told whole in
// private, if the person has ever written there.
func (b mailbox) answer(ctx context.Context, c *click, said chat.Text) {
	words := plain(said)
	short := shortened(words, longestAlert)
	err := ask(ctx, b.Telegram, (*bot.Bot).AnswerCallbackQuery, &bot.AnswerCallbackQueryParams{
		CallbackQueryID: c.ID, Text: short, ShowAlert: short != ""}, nil)
	if err != nil {
		b.config.Log.DebugContext(ctx, "answering a click at Telegram", "error", err)
	}
	if err == nil && short == words {
		return
	}
	if words != "" {
		_ = b.privately(ctx, c.From.ID, said)
	}
}

// privately writes to somebody in their own chat with the bot.
func (t *Telegram) privately(ctx context.Context, to int64, said chat.Text) error {
	_, err := t.Post(ctx, chat.Place{Chat: strconv.FormatInt(to, 10)}, chat.Message{Text: said}, "")
	return err
}

// whisper answers a message so that nobody else sees it.
func (b mailbox) whisper(ctx context.Context, m *message, said chat.Text) error {
	if m.private() {
		_, err := b.Post(ctx, m.ref().Place, chat.Message{Text: said}, "")
		return err
	}
	return b.privately(ctx, m.From.ID, said)
}

// reply answers a message in private, or else where it is.
func (b mailbox) reply(ctx context.Context, m *message, said chat.Text) {
	err := b.whisper(ctx, m, said)
	var refused *chat.Refused
	if errors.As(err, &refused) && !m.private() {
		_, err = b.Post(ctx, m.ref().Place, chat.Message{Text: said}, "")
	}
	if err != nil {
		b.config.Log.DebugContext(ctx, "answering at Telegram", "error", err)
	}
}

// introduce tells who wrote, alone, what they and the chat are in bailiff.yaml.
func (b mailbox) introduce(ctx context.Context, m *message) {
	ref := m.ref()
	said := chat.Text{{Text: "This is a bot of bailiff's. Your id here is "}, {Style: chat.Code, Text: person(*m.From).ID}}
	if !m.private() {
		said = append(said, chat.Piece{Text: ", and this chat's is "}, chat.Piece{Style: chat.Code, Text: ref.Chat})
	}
	if ref.Thread != "" {
		said = append(said, chat.Piece{Text: ", of it topic "}, chat.Piece{Style: chat.Code, Text: ref.Thread})
	}
	if err := b.whisper(ctx, m, append(said, chat.Piece{Text: "."})); err != nil {
		b.config.Log.DebugContext(ctx, "answering at Telegram", "error", err)
	}
}

func (m *message) private() bool { return m.Chat.Type == models.ChatTypePrivate }

func (m *message) ref() chat.Ref {
	ref := chat.Ref{Place: chat.Place{Chat: strconv.FormatInt(m.Chat.ID, 10)}, Message: strconv.Itoa(m.ID)}
	if m.InTopic && m.Thread != 0 {
		ref.Thread = strconv.Itoa(m.Thread)
	}
	return ref
}

func (m *message) kind() string {
	switch {
	case m.private():
		return "dm"
	case m.InTopic:
		return "thread"
	case m.Chat.Type == models.ChatTypeChannel:
		return "channel"
	}
	return "group"
}

func person(u models.User) chat.Person {
	return chat.Person{ID: strconv.FormatInt(u.ID, 10), Name: strings.TrimSpace(u.FirstName + " " + u.LastName)}
}

// plain is a text without its looks.
func plain(text chat.Text) string {
	var words strings.Builder
	for _, piece := range text {
		words.WriteString(clean(piece.Text))
	}
	return words.String()
}

// shortened is at most so many units of UTF-16 of a text.
func shortened(text string, most int) string {
	units := 0
	for at, c := range text {
		if units += utf16.RuneLen(c); units > most {
			return backTo(text[:at], most-1) + "…"
		}
	}
	return text
}

func backTo(text string, most int) string {
	for len(utf16.Encode([]rune(text))) > most {
		r := []rune(text)
		text = string(r[:len(r)-1])
	}
	return text
}
