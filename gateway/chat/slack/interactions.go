package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/slack-go/slack"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// interaction is a click on a button, or a submitted form.
type interaction struct {
	Type    string `json:"type"`
	Trigger string `json:"trigger_id"`
	User    struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Username string `json:"username"`
	} `json:"user"`
	Channel struct {
		ID string `json:"id"`
	} `json:"channel"`
	Message struct {
		TS       string `json:"ts"`
		ThreadTS string `json:"thread_ts"`
	} `json:"message"`
	Actions []struct {
		Value string `json:"value"`
	} `json:"actions"`
	View struct {
		Callback string `json:"callback_id"`
		Metadata string `json:"private_metadata"`
		State    struct {
			Values map[string]map[string]struct {
				Value string `json:"value"`
			} `json:"values"`
		} `json:"state"`
	} `json:"view"`
}

// onInteraction hands on an answer, or asks for its reason first.
func (r *receiver) onInteraction(ctx context.Context, text []byte) {
	defer chat.LogPanic(r.cfg.Log, handlingPanicked)
	var i interaction
	if json.Unmarshal(text, &i) != nil || i.User.ID == "" {
		return
	}
	by := chat.Person{ID: i.User.ID, Name: i.User.Username}
	switch {
	case i.Type == "view_submission" && i.View.Callback == formID:
		if t, ok := i.submission(); ok {
			t.By = by
			r.inFlight.Spawn(func() { r.onClick(ctx, t) })
		}
	case i.Type == "block_actions" && len(i.Actions) > 0 && i.Actions[0].Value != "" && i.Channel.ID != "":
		token, question, asks := strings.Cut(i.Actions[0].Value, " ")
		t := chat.Click{By: by, On: i.on(), Token: token}
		if asks {
			r.inFlight.Spawn(func() { r.ask(ctx, i.Trigger, t, question) })
			return
		}
		r.inFlight.Spawn(func() { r.onClick(ctx, t) })
	}
}

// on is the message that has the button.
func (i interaction) on() chat.Ref {
	ref := chat.Ref{Place: chat.Place{Chat: i.Channel.ID, Thread: i.Message.ThreadTS}, Message: i.Message.TS}
	if ref.Thread == ref.Message {
		ref.Thread = "" // it begins a thread and is not in it
	}
	return ref
}

func (r *receiver) onClick(ctx context.Context, t chat.Click) {
	if text := r.in.Clicked(ctx, t); len(text) > 0 {
		r.reply(ctx, r.ephemeralTo(t.On.Place, t.By.ID), text)
	}
}

// The ids of the form that asks for a line.
const (
	formID      = actionPrefix + "ask"
	lineBlock   = actionPrefix + "line"
	maxAnswer   = 1000
	maxQuestion = 150
)

// formState is kept in a form: the click that it is about.
type formState struct {
	Token string   `json:"token"`
	On    chat.Ref `json:"on"`
}

// ask opens a form with one line, or tells the person that it cannot.
func (r *receiver) ask(ctx context.Context, trigger string, t chat.Click, question string) {
	if err := r.openForm(ctx, trigger, t, question); err != nil {
		r.cfg.Log.Info("somebody at Slack could not be asked for a reason", "error", bailiff.Sentence(err.Error()))
		r.reply(ctx, r.ephemeralTo(t.On.Place, t.By.ID),
			chat.Text{{Text: "Slack did not let bailiff ask you for that. Nothing has changed; click again."}})
	}
}

func (r *receiver) openForm(ctx context.Context, trigger string, t chat.Click, question string) error {
	c, err := r.begin()
	if err != nil {
		return err
	}
	kept, err := json.Marshal(formState{t.Token, t.On})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	_, err = c.OpenViewContext(ctx, trigger, form(question, string(kept)))
	return c.fault("asking somebody at slack", err)
}

func form(question, kept string) slack.ModalViewRequest {
	plain := func(text string) *slack.TextBlockObject {
		return slack.NewTextBlockObject(slack.PlainTextType, text, false, false)
	}
	line := slack.NewPlainTextInputBlockElement(nil, lineBlock)
	line.MaxLength = maxAnswer
	line.FocusOnLoad = true
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: formID, PrivateMetadata: kept,
		Title: plain("bailiff"), Submit: plain("Send"), Close: plain("Cancel"),
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewInputBlock(lineBlock, plain(chat.Excerpt(question, maxQuestion)), nil, line).WithOptional(true)}},
	}
}

// submission is the click that a form is about, with the reason that was written.
func (i interaction) submission() (chat.Click, bool) {
	var p formState
	if err := json.Unmarshal([]byte(i.View.Metadata), &p); err != nil {
		return chat.Click{}, false
	}
	reason := i.View.State.Values[lineBlock][lineBlock].Value
	return chat.Click{On: p.On, Token: p.Token, Reason: strings.TrimSpace(reason)}, true
}

// respond answers a command so that only its giver sees it. It also works in chats where
// the app is no member.
func (s *Slack) respond(ctx context.Context, to slashCommand, text chat.Text) error {
	c, err := s.begin()
	if err != nil {
		return err
	}
	if !s.isSlack(to.ResponseURL) {
		return fmt.Errorf("answering a command: slack named no address of its own")
	}
	c.secrets = append(c.secrets, bailiff.NewSecret(to.ResponseURL))
	said := append(options(text, nil, ""), slack.MsgOptionResponseURL(to.ResponseURL, "ephemeral"))
	_, _, _, err = c.SendMessageContext(ctx, "", said...)
	return c.fault("answering a command at slack", err)
}

// isSlack says whether an address is Slack's, or where the API is.
func (s *Slack) isSlack(address string) bool {
	target, err := url.Parse(address)
	api, apiErr := url.Parse(s.cfg.URL)
	if err != nil || apiErr != nil {
		return false
	}
	host := strings.ToLower(target.Hostname())
	ours := target.Scheme == "https" && (strings.HasSuffix(host, ".slack.com") || strings.HasSuffix(host, ".slack-gov.com"))
	return ours || target.Scheme == api.Scheme && target.Host == api.Host
}
