package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/gateway/chat"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// allowedUpdates are the kinds of updates that are asked for.
var allowedUpdates = []string{models.AllowedUpdateMessage, models.AllowedUpdateCallbackQuery}

// update is the part of an update that is used. The library's type fails at fields that are
// newer than the library.
type update struct {
	ID            int64          `json:"update_id"`
	Message       *message       `json:"message"`
	CallbackQuery *callbackQuery `json:"callback_query"`
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

// callbackQuery is a callback query.
type callbackQuery struct {
	ID      string      `json:"id"`
	From    models.User `json:"from"`
	Message *message    `json:"message"`
	Data    string      `json:"data"`
}

// updateHandler hands updates on to an inbox.
type updateHandler struct {
	*Telegram
	inbox chat.Inbox
	// working is on answers that are being sent.
	working *chat.Background
}

// handle hands on one update, and returns its id.
func (h updateHandler) handle(ctx context.Context, raw json.RawMessage) (id int64) {
	defer func() {
		if cause := recover(); cause != nil {
			h.config.Log.ErrorContext(ctx, "taking an update of Telegram's panicked", "update", id, "cause", cause, "stack",
				string(debug.Stack()))
		}
	}()
	var numbered struct {
		ID int64 `json:"update_id"`
	}
	if err := json.Unmarshal(raw, &numbered); err != nil {
		h.config.Log.DebugContext(ctx, "an update of Telegram's has no number", "error", err)
		return 0
	}
	id = numbered.ID
	var u update
	switch err := json.Unmarshal(raw, &u); {
	case err != nil:
		h.config.Log.DebugContext(ctx, "an update of Telegram's cannot be read", "update", id, "error", err)
	case u.Message != nil:
		h.onMessage(ctx, u.Message)
	case u.CallbackQuery != nil:
		h.onCallbackQuery(ctx, u.CallbackQuery)
	}
	return id
}

// onMessage takes a message.
func (h updateHandler) onMessage(ctx context.Context, m *message) {
	me := h.me.Load()
	if m.From == nil || m.From.IsBot || m.SenderChat != nil || m.ViaBot != nil || m.Forwarded != nil || m.Text == "" {
		return
	}
	toBot := m.Reply != nil && m.Reply.From != nil && m.Reply.From.ID == me.ID
	if toBot && strings.HasPrefix(m.Reply.Text, questionSign) {
		h.onReason(ctx, m)
		return
	}
	r := read(m.Text, m.Entities, me)
	if r.elsewhere {
		return
	}
	if r.text == start && (r.mentioned || m.private()) {
		h.working.Spawn(func() { h.tellIDs(ctx, m) })
	}
	h.inbox.Said(ctx, chat.Said{
		Ref: m.ref(), Kind: m.kind(), By: person(*m.From), Text: r.text, Mentioned: r.mentioned || toBot,
		Ephemeral: func(ctx context.Context, t chat.Text) error { return h.replyPrivately(ctx, m, t) },
	})
}

// onCallbackQuery takes a click on a button.
func (h updateHandler) onCallbackQuery(ctx context.Context, c *callbackQuery) {
	if c.From.IsBot || c.Data == "" {
		return
	}
	token, asks := strings.CutSuffix(c.Data, asksSign)
	given := chat.Click{By: person(c.From), Token: token}
	if c.Message != nil {
		given.On = c.Message.ref()
	}
	if asks && c.Message != nil {
		h.asking.RLock()
		h.working.Spawn(func() {
			defer h.asking.RUnlock()
			h.askReason(ctx, c, given)
		})
		return
	}
	said := h.inbox.Clicked(ctx, given)
	h.working.Spawn(func() { h.answer(ctx, c, said) })
}

// maxAnswers are sent at once; then the next update waits.
const maxAnswers = 64

// longestAlert is the longest answer to a callback query, in units of UTF-16.
const longestAlert = 200

// answer answers a callback query. A text that is too long for that is sent as a private
// message, which works if the person has ever written to the bot.
func (h updateHandler) answer(ctx context.Context, c *callbackQuery, said chat.Text) {
	words := plain(said)
	short := chat.Excerpt(words, longestAlert)
	err := ask(ctx, h.Telegram, (*bot.Bot).AnswerCallbackQuery, &bot.AnswerCallbackQueryParams{
		CallbackQueryID: c.ID, Text: short, ShowAlert: short != ""}, nil)
	if err != nil {
		h.config.Log.DebugContext(ctx, "answering a click at Telegram", "error", err)
	}
	if err == nil && short == words {
		return
	}
	if words != "" {
		_ = h.sendPrivately(ctx, c.From.ID, said)
	}
}

// sendPrivately writes to a person in their private chat with the bot.
func (t *Telegram) sendPrivately(ctx context.Context, to int64, said chat.Text) error {
	_, err := t.Post(ctx, chat.Place{Chat: strconv.FormatInt(to, 10)}, chat.Message{Text: said}, "")
	return err
}

// replyPrivately answers a message so that only its writer sees the answer.
func (h updateHandler) replyPrivately(ctx context.Context, m *message, said chat.Text) error {
	if m.private() {
		_, err := h.Post(ctx, m.ref().Place, chat.Message{Text: said}, "")
		return err
	}
	return h.sendPrivately(ctx, m.From.ID, said)
}

// reply answers a message in private, or where it is if the person never wrote to the bot.
func (h updateHandler) reply(ctx context.Context, m *message, said chat.Text) {
	err := h.replyPrivately(ctx, m, said)
	var refused *chat.Refused
	if errors.As(err, &refused) && !m.private() {
		_, err = h.Post(ctx, m.ref().Place, chat.Message{Text: said}, "")
	}
	if err != nil {
		h.config.Log.DebugContext(ctx, "answering at Telegram", "error", err)
	}
}

// tellIDs tells the writer the ids by which bailiff.yaml names them and the chat.
func (h updateHandler) tellIDs(ctx context.Context, m *message) {
	ref := m.ref()
	said := chat.Text{{Text: "This is a bot of bailiff's. Your id here is "}, {Style: chat.Code, Text: person(*m.From).ID}}
	if !m.private() {
		said = append(said, chat.Piece{Text: ", and this chat's is "}, chat.Piece{Style: chat.Code, Text: ref.Chat})
	}
	if ref.Thread != "" {
		said = append(said, chat.Piece{Text: ", of it topic "}, chat.Piece{Style: chat.Code, Text: ref.Thread})
	}
	if err := h.replyPrivately(ctx, m, append(said, chat.Piece{Text: "."})); err != nil {
		h.config.Log.DebugContext(ctx, "answering at Telegram", "error", err)
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

// plain is a text without its styles.
func plain(text chat.Text) string {
	var words strings.Builder
	for _, piece := range text {
		words.WriteString(clean(piece.Text))
	}
	return words.String()
}
