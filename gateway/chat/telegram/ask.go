package telegram

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// question is a question that waits for a reply.
type question struct {
	click chat.Click
	until time.Time
}

const (
	// questionSign begins each question and no other message, so that a reply to a forgotten
	// question is recognised.
	questionSign = "✍ "
	// questionTimeout is how long a question waits for its reply.
	questionTimeout = 10 * time.Minute
	// longestName and longestPlaceholder are in characters.
	longestName, longestPlaceholder = 40, 64
)

// askReason asks the person who clicked for a line of text. The caller holds asking, so that
// a reply that comes at once finds the question.
func (h updateHandler) askReason(ctx context.Context, c *callbackQuery, given chat.Click) {
	asks, known := h.asked.Get(given.Token)
	if !known {
		asks = cmp.Or(c.label(), "Why?")
	}
	params := questionTo(c, asks)
	id, err := send(ctx, h.Telegram, (*bot.Bot).SendMessage, params)
	if err != nil {
		h.config.Log.DebugContext(ctx, "asking at Telegram", "error", err)
		h.answer(ctx, c, chat.Text{{Text: "I could not ask you for a text just now, and nothing was changed. Click again."}})
		return
	}
	h.questions.Put(questionKey(c.Message, id), question{click: given, until: time.Now().Add(questionTimeout)})
	h.answer(ctx, c, nil)
}

// label is of the button that was clicked.
func (c *callbackQuery) label() string {
	for _, row := range c.Message.Markup.Rows {
		for _, button := range row {
			if button.Data == c.Data {
				return button.Text
			}
		}
	}
	return ""
}

func questionTo(c *callbackQuery, asks string) *bot.SendMessageParams {
	thread := 0
	if c.Message.InTopic {
		thread = c.Message.Thread
	}
	p := &bot.SendMessageParams{ChatID: c.Message.Chat.ID, MessageThreadID: thread, LinkPreviewOptions: noPreview()}
	words := chat.Text{{Text: questionSign}}
	if c.Message.Chat.Type != models.ChatTypePrivate {
		// The mention selects the person whose client opens the reply.
		name := cmp.Or(clean(strings.TrimSpace(person(c.From).Name)), "You there")
		words = append(words, chat.Piece{Style: chat.Strong, Text: chat.Excerpt(name, longestName)}, chat.Piece{Text: ": "})
	}
	p.Text, p.Entities = render(append(words, chat.Piece{Text: asks}, chat.Piece{Text: " (Reply to this message.)"}))
	for i := range p.Entities {
		p.Entities[i] = models.MessageEntity{Type: models.MessageEntityTypeTextMention, Offset: p.Entities[i].Offset,
			Length: p.Entities[i].Length, User: &models.User{ID: c.From.ID, FirstName: c.From.FirstName}}
	}
	p.ReplyMarkup = &models.ForceReply{ForceReply: true, Selective: len(p.Entities) > 0,
		InputFieldPlaceholder: chat.Excerpt(clean(asks), longestPlaceholder)}
	return p
}

func questionKey(in *message, id int) string {
	return strconv.FormatInt(in.Chat.ID, 10) + " " + strconv.Itoa(id)
}

// onReason takes the reply to a question.
func (h updateHandler) onReason(ctx context.Context, m *message) {
	key := questionKey(m, m.Reply.ID)
	q, known := h.questions.Get(key)
	if !known {
		h.asking.Lock() // waits until no question is being sent
		q, known = h.questions.Get(key)
		h.asking.Unlock()
	}
	if known && q.click.By.ID != person(*m.From).ID {
		return // another person was asked
	}
	if _, still := h.questions.Take(key); !known || !still || time.Now().After(q.until) {
		h.working.Spawn(func() {
			h.reply(ctx, m, chat.Text{{Text: "I do not know any more what that answers, and nothing was changed. Click the button again."}})
		})
		return
	}
	q.click.Reason = strings.TrimSpace(m.Text)
	said := h.inbox.Clicked(ctx, q.click)
	if plain(said) != "" {
		h.working.Spawn(func() { h.reply(ctx, m, said) })
	}
}
