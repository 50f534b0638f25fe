package discord

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// interaction is a click on a button, a submitted form, or a chosen command.
type interaction struct {
	ID, Token string
	App       string `json:"application_id"`
	Type      discordgo.InteractionType
	Data      struct {
		// Name is a command's, CustomID a button's or a form's.
		Name     string
		CustomID string `json:"custom_id"`
		// Options are what follows a command's name.
		Options []struct{ Name, Value string }
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

// by is the person, who stands elsewhere in interactions outside of servers.
func (i interaction) by() chat.Person {
	if i.Member.User.ID != "" {
		return i.Member.User.person()
	}
	return i.User.person()
}

func (l *listener) onInteraction(ctx context.Context, i interaction) {
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
		l.onClick(ctx, i, token, "")
	case discordgo.InteractionModalSubmit:
		l.onClick(ctx, i, i.Data.CustomID, i.filledIn())
	case discordgo.InteractionApplicationCommand:
		if chat.IsCommand(i.Data.Name) {
			l.onCommand(ctx, i)
		}
	}
}

// where it happened.
func (l *listener) where(ctx context.Context, i interaction) (channelPlace, error) {
	if i.Channel.ID == i.ChannelID && i.Channel.isWhole() {
		return placeOf(i.Channel), nil
	}
	return l.channels.find(ctx, i.ChannelID)
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
		CustomID: formField, Label: chat.Excerpt(asks, formLabelLength), Placeholder: chat.Excerpt(asks, placeholdLength),
		Style: discordgo.TextInputShort, Required: true, MaxLength: mostReason,
	}
	form := map[string]any{
		"custom_id": token, "title": chat.Excerpt(asks, formTitleLength),
		"components": []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{field}}},
	}
	a := l.newResponse(i)
	_ = l.d.retry(ctx, func() error { return refusal(a.call(ctx, discordgo.InteractionResponseModal, form), "", "") })
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

func (l *listener) onClick(ctx context.Context, i interaction, token, reason string) {
	a := l.newResponse(i)
	click := chat.Click{By: i.by(), Token: token, Reason: reason}
	if i.Message.ID != "" {
		click.On.Message = i.Message.ID
		if w, err := l.where(ctx, i); err == nil {
			click.On.Place = w.Place
		}
	}
	done := l.afterReplyTime(ctx, func() { a.acknowledge(ctx, discordgo.InteractionResponseDeferredMessageUpdate) })
	text := l.in.Clicked(ctx, click)
	done()
	if len(text) == 0 {
		a.acknowledge(ctx, discordgo.InteractionResponseDeferredMessageUpdate)
		return
	}
	_ = l.d.retry(ctx, func() error { return a.reply(ctx, text) })
}

// maxThinking is for how many seconds a command shows that it is under way, if nothing is
// shown to its giver alone.
const maxThinking = 60

// onCommand hands a command on as a message, whose id is the interaction's.
func (l *listener) onCommand(ctx context.Context, i interaction) {
	a := l.newResponse(i)
	l.work.TrySpawn(func() { l.showThinking(ctx, a) })
	w, err := l.where(ctx, i)
	if err != nil {
		_ = l.d.retry(ctx, func() error { return a.reply(ctx, chat.Text{{Text: "Discord does not say where this is. Try again."}}) })
		return
	}
	l.in.Said(ctx, chat.Said{
		Ref: chat.Ref{Place: w.Place, Message: i.ID}, Kind: w.kind, By: i.by(), Text: i.text(), Mentioned: true,
		SlashCommand: true, Ephemeral: a.reply,
	})
}

// text is a command as it would be typed.
func (i interaction) text() string {
	text := "/" + i.Data.Name
	for _, o := range i.Data.Options {
		text += " " + o.Value
	}
	return text
}

// showThinking shows that a command is under way if no reply comes soon, for maxThinking.
func (l *listener) showThinking(ctx context.Context, a *response) {
	if !sleep(ctx, l.d.replyAfter) {
		return
	}
	a.acknowledge(ctx, discordgo.InteractionResponseDeferredChannelMessageWithSource)
	if sleep(ctx, maxThinking*l.d.second) {
		a.removeThinking(ctx)
	}
}

// afterReplyTime calls do after replyAfter, unless done is called before.
func (l *listener) afterReplyTime(ctx context.Context, do func()) (done func()) {
	waiting, done := context.WithCancel(ctx)
	l.work.TrySpawn(func() {
		defer done()
		if sleep(waiting, l.d.replyAfter) {
			do()
		}
	})
	return done
}

// response is the reply to an interaction, which only its person sees.
type response struct {
	d         *Discord
	app       string
	id, token string

	mu sync.Mutex
	// begun says that Discord has a first response, thinking that it shows that one is to come.
	acknowledged, thinking bool
}

func (l *listener) newResponse(i interaction) *response {
	return &response{d: l.d, app: i.App, id: i.ID, token: i.Token}
}

// call sends the first response.
func (a *response) call(ctx context.Context, kind discordgo.InteractionResponseType, data any) error {
	body := map[string]any{"type": kind}
	if data != nil {
		body["data"] = data
	}
	err := a.d.do(ctx, http.MethodPost, "/interactions/"+url.PathEscape(a.id)+"/"+url.PathEscape(a.token)+"/callback", body, nil)
	if hasCode(err, alreadyAnswered) { // by an earlier try whose answer was lost
		return nil
	}
	return err
}

// ephemeral is a message that only one person sees.
func ephemeral(text chat.Text) shown {
	m := show(text, nil)
	m.Flags |= discordgo.MessageFlagsEphemeral
	return m
}

// acknowledge sends a deferred response, unless there is a response already.
func (a *response) acknowledge(ctx context.Context, kind discordgo.InteractionResponseType) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.acknowledged {
		return
	}
	var data any
	shows := kind == discordgo.InteractionResponseDeferredChannelMessageWithSource
	if shows {
		data = map[string]any{"flags": discordgo.MessageFlagsEphemeral}
	}
	a.acknowledged = a.d.retry(ctx, func() error { return refusal(a.call(ctx, kind, data), "", "") }) == nil
	a.thinking = a.acknowledged && shows
}

// reply sends the first response, replaces a deferred one, or sends a follow-up. It is tried
// once.
func (a *response) reply(ctx context.Context, text chat.Text) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var err error
	switch {
	case !a.acknowledged:
		err = a.call(ctx, discordgo.InteractionResponseChannelMessageWithSource, ephemeral(text))
	case a.thinking:
		err = a.d.do(ctx, http.MethodPatch, a.webhookPath()+"/messages/@original", show(text, nil), nil)
	default:
		err = a.d.do(ctx, http.MethodPost, a.webhookPath(), ephemeral(text), nil)
	}
	if err == nil {
		a.acknowledged, a.thinking = true, false
	}
	return refusal(err, "", "")
}

// webhookPath is where Discord takes follow-ups.
func (a *response) webhookPath() string {
	return "/webhooks/" + url.PathEscape(a.app) + "/" + url.PathEscape(a.token)
}

// removeThinking deletes a deferred response.
func (a *response) removeThinking(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.thinking {
		_ = a.d.do(ctx, http.MethodDelete, a.webhookPath()+"/messages/@original", nil, nil)
		a.thinking = false
	}
}
