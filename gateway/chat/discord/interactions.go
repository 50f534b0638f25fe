package discord

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// interaction is what somebody clicked, filled in or chose.
type interaction struct {
	ID, Token string
	App       string `json:"application_id"`
	Type      discordgo.InteractionType
	Data      struct {
		// Name is a command's, CustomID a button's or a form's.
		Name     string
		CustomID string `json:"custom_id"`
		// Components are a form's rows.
		Components []struct{ Components []fieldData }
	}
	Member    struct{ User userData }
	User      userData
	Message   struct{ ID string }
	ChannelID string `json:"channel_id"`
	Channel   channelData
}

type fieldData struct {
	CustomID string `json:"custom_id"`
	Value    string
}

// by is who did it: in a server, or where there is none.
func (i interaction) by() chat.Person {
	if i.Member.User.ID != "" {
		return i.Member.User.person()
	}
	return i.User.person()
}

func (l *listener) interaction(ctx context.Context, i interaction) {
	if i.by().ID == "" {
		return
	}
	switch i.Type {
	case discordgo.InteractionMessageComponent:
		token, asks, has := strings.Cut(i.Data.CustomID, question)
		if has {
			l.ask(ctx, i, token, asks)
			return
		}
		l.clicked(ctx, i, token, "")
	case discordgo.InteractionModalSubmit:
		l.clicked(ctx, i, i.Data.CustomID, i.filledIn())
	case discordgo.InteractionApplicationCommand:
		if slices.ContainsFunc(commands(), func(c *discordgo.ApplicationCommand) bool { return c.Name == i.Data.Name }) {
			l.command(ctx, i)
		}
	}
}

// where it happened.
func (l *listener) where(ctx context.Context, i interaction) (where, error) {
	if i.Channel.ID == i.ChannelID && i.Channel.isWhole() {
		return whereIs(i.Channel), nil
	}
	return l.places.find(ctx, i.ChannelID)
}

// Discord's bounds on forms.
const (
	formTitleLength = 45
	formLabelLength = 45
	placeholdLength = 100
	mostReason      = 1000
	formField       = "reason"
)

// ask shows a form, whose answer comes with the token.
func (l *listener) ask(ctx context.Context, i interaction, token, asks string) {
	field := discordgo.TextInput{
		CustomID: formField, Label: cut(asks, formLabelLength), Placeholder: cut(asks, placeholdLength),
		Style: discordgo.TextInputShort, Required: true, MaxLength: mostReason,
	}
	form := map[string]any{
		"custom_id": token, "title": cut(asks, formTitleLength),
		"components": []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{field}}},
	}
	a := l.answer(i)
	_ = l.d.persist(ctx, func() error { return refusal(a.call(ctx, discordgo.InteractionResponseModal, form), "", "") })
}

// filledIn is what a form came back with, as one line.
func (i interaction) filledIn() string {
	for _, row := range i.Data.Components {
		for _, field := range row.Components {
			if field.CustomID == formField {
				return strings.Join(strings.Fields(field.Value), " ")
			}
		}
	}
	return ""
}

func (l *listener) clicked(ctx context.Context, i interaction, token, reason string) {
	a := l.answer(i)
	click := chat.Click{By: i.by(), Token: token, Reason: reason}
	if i.Message.ID != "" {
		click.On.Message = i.Message.ID
		if w, err := l.where(ctx, i); err == nil {
			click.On.Place = w.Place
		}
	}
	done := l.unless(ctx, func() { a.acknowledge(ctx, discordgo.InteractionResponseDeferredMessageUpdate) })
	text := l.in.Clicked(ctx, click)
	done()
	if len(text) == 0 {
		a.acknowledge(ctx, discordgo.InteractionResponseDeferredMessageUpdate)
		return
	}
	_ = l.d.persist(ctx, func() error { return a.tell(ctx, text) })
}

// thinking is how long whoever chose a command sees that it is under way, where nothing
// is told to them alone.
const thinking = 60

// command tells of one as of a message, whose id nobody else's has.
func (l *listener) command(ctx context.Context, i interaction) {
	a := l.answer(i)
	l.spawn(ctx, func() { l.think(ctx, a) })
	w, err := l.where(ctx, i)
	if err != nil {
		_ = l.d.persist(ctx, func() error { return a.tell(ctx, chat.Text{{Text: "Discord does not say where this is. Try again."}}) })
		return
	}
	l.in.Said(ctx, chat.Said{
		Ref: chat.Ref{Place: w.Place, Message: i.ID}, Kind: w.kind, By: i.by(), Text: "/" + i.Data.Name, Mentioned: true, SlashCommand: true, Ephemeral: a.tell,
	})
}

// think shows that a command is under way, where nothing is told soon, and not for ever.
func (l *listener) think(ctx context.Context, a *answer) {
	if !sleep(ctx, l.d.patience) {
		return
	}
	a.acknowledge(ctx, discordgo.InteractionResponseDeferredChannelMessageWithSource)
	if sleep(ctx, thinking*l.d.second) {
		a.vanish(ctx)
	}
}

// unless does something once a person's patience ends, unless it is done with before.
func (l *listener) unless(ctx context.Context, do func()) (done func()) {
	waiting, done := context.WithCancel(ctx)
	l.spawn(ctx, func() {
		defer done()
		if sleep(waiting, l.d.patience) {
			do()
		}
	})
	return done
}

// answer is what somebody is told alone.
type answer struct {
	d         *Discord
	app       string
	id, token string

	mu sync.Mutex
	// begun says that Discord has an answer, open that it shows that one is to come.
	begun, open bool
}

func (l *listener) answer(i interaction) *answer {
	return &answer{d: l.d, app: i.App, id: i.ID, token: i.Token}
}

// call is the first answer.
func (a *answer) call(ctx context.Context, kind discordgo.InteractionResponseType, data any) error {
	body := map[string]any{"type": kind}
	if data != nil {
		body["data"] = data
	}
	err := a.d.do(ctx, http.MethodPost, "/interactions/"+url.PathEscape(a.id)+"/"+url.PathEscape(a.token)+"/callback", body, nil)
	if hasCode(err, alreadyAnswered) { // by a try of ours whose answer was lost
		return nil
	}
	return err
}

// alone is a message that only one sees.
func alone(text chat.Text) shown {
	m := show(text, nil)
	m.Flags |= discordgo.MessageFlagsEphemeral
	return m
}

// acknowledge tells Discord that it was heard, unless that was told.
func (a *answer) acknowledge(ctx context.Context, kind discordgo.InteractionResponseType) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.begun {
		return
	}
	var data any
	shows := kind == discordgo.InteractionResponseDeferredChannelMessageWithSource
	if shows {
		data = map[string]any{"flags": discordgo.MessageFlagsEphemeral}
	}
	a.begun = a.d.persist(ctx, func() error { return refusal(a.call(ctx, kind, data), "", "") }) == nil
	a.open = a.begun && shows
}

// tell is what they are told: the first answer, what takes its place, or one more. It is
// tried once.
func (a *answer) tell(ctx context.Context, text chat.Text) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var err error
	switch {
	case !a.begun:
		err = a.call(ctx, discordgo.InteractionResponseChannelMessageWithSource, alone(text))
	case a.open:
		err = a.d.do(ctx, http.MethodPatch, a.hook()+"/messages/@original", show(text, nil), nil)
	default:
		err = a.d.do(ctx, http.MethodPost, a.hook(), alone(text), nil)
	}
	if err == nil {
		a.begun, a.open = true, false
	}
	return refusal(err, "", "")
}

// hook is where Discord takes more answers.
func (a *answer) hook() string {
	return "/webhooks/" + url.PathEscape(a.app) + "/" + url.PathEscape(a.token)
}

// vanish takes away that an answer is to come.
func (a *answer) vanish(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open {
		_ = a.d.do(ctx, http.MethodDelete, a.hook()+"/messages/@original", nil, nil)
		a.open = false
	}
}
