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

// question is one that waits for a reply.
type question struct {
	click chat.Click
	until time.Time
}

const (
	// questionSign is how each question begins, so that a reply is known to be to one
	// that is forgotten. No message of package chat does.
	questionSign = "✍ "
	// patience is how long a question waits.
	patience = 10 * time.Minute
	// longestName and longestPlaceholder are in characters.
	longestName, longestPlaceholder = 40, 64
)

// question asks who clicked for a line of text. It holds b.asking while it does, so that
// a reply that comes at once finds the question known.
func (b mailbox) question(ctx context.Context, c *click, given chat.Click) {
	asks, known := b.asked.Get(given.Token)
	if !known {
		asks = cmp.Or(c.label(), "Why?")
	}
	params := questionTo(c, asks)
	id, err := send(ctx, b.Telegram, (*bot.Bot).SendMessage, params)
	if err != nil {
		b.config.Log.DebugContext(ctx, "asking at Telegram", "error", err)
		b.answer(ctx, c, chat.Text{{Text: "I could not ask you for a text just now, and nothing was changed. Click again."}})
		return
	}
	b.questions.Put(questionKey(c.Message, id), question{click: given, until: time.Now().Add(patience)})
	b.answer(ctx, c, nil)
}

// label is of the button that was clicked.
func (c *click) label() string {
	for _, row := range c.Message.Markup.Rows {
		for _, button := range row {
			if button.Data == c.Data {
				return button.Text
			}
		}
	}
	return ""
}

func questionTo(c *click, asks string) *bot.SendMessageParams {
	thread := 0
	if c.Message.InTopic {
		thread = c.Message.Thread
	}
	p := &bot.SendMessageParams{ChatID: c.Message.Chat.ID, MessageThreadID: thread, LinkPreviewOptions: noPreview()}
	words := chat.Text{{Text: questionSign}}
	if c.Message.Chat.Type != models.ChatTypePrivate {
		// Who is named is who is asked: a client opens the reply of nobody else.
		name := cmp.Or(clean(strings.TrimSpace(person(c.From).Name)), "You there")
		words = append(words, chat.Piece{Style: chat.Strong, Text: shortened(name, longestName)}, chat.Piece{Text: ": "})
	}
	p.Text, p.Entities = render(append(words, chat.Piece{Text: asks}, chat.Piece{Text: " (Reply to this message.)"}))
	for i := range p.Entities {
		p.Entities[i] = models.MessageEntity{Type: models.MessageEntityTypeTextMention, Offset: p.Entities[i].Offset,
			Length: p.Entities[i].Length, User: &models.User{ID: c.From.ID, FirstName: c.From.FirstName}}
	}
	p.ReplyMarkup = &models.ForceReply{ForceReply: true, Selective: len(p.Entities) > 0, InputFieldPlaceholder: shortened(clean(asks), longestPlaceholder)}
	return p
}

func questionKey(in *message, id int) string {
	return strconv.FormatInt(in.Chat.ID, 10) + " " + strconv.Itoa(id)
}

// reasoned takes a reply to a question.
func (b mailbox) reasoned(ctx context.Context, m *message) {
	key := questionKey(m, m.Reply.ID)
	q, known := b.questions.Get(key)
	if !known {
		b.asking.Lock() // until no question is on its way
		q, known = b.questions.Get(key)
		b.asking.Unlock()
	}
	if known && q.click.By.ID != person(*m.From).ID {
		return // it was somebody else who was asked
	}
	if _, still := b.questions.Take(key); !known || !still || time.Now().After(q.until) {
		b.work(func() {
			b.reply(ctx, m, chat.Text{{Text: "I do not know any more what that answers, and nothing was changed. Click the button again."}})
		})
		return
	}
	q.click.Reason = strings.TrimSpace(m.Text)
	said := b.inbox.Clicked(ctx, q.click)
	if plain(said) != "" {
		b.work(func() { b.reply(ctx, m, said) })
	}
}
