package slack

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slack-go/slack"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// posting is what is being done, in the words of errors.
const posting = "posting to slack"

// errAnswer is an answer that says neither yes nor no.
var errAnswer = errors.New("slack's answer names no message")

// Post shows a message, and its file in the thread below it. What can be refused of a file
// is done before anybody sees anything.
func (s *Slack) Post(ctx context.Context, at chat.Place, m chat.Message, key string) (chat.Ref, error) {
	c, err := s.begin()
	if err != nil {
		return chat.Ref{}, err
	}
	a := s.attempts.take(key)
	err = c.post(ctx, at, m, key, a)
	s.attempts.keep(key, a)
	if err != nil {
		return chat.Ref{}, c.fault(posting, err)
	}
	return a.ref, nil
}

func (c *call) post(ctx context.Context, at chat.Place, m chat.Message, key string, a *attempt) error {
	if !a.shown() && a.file == "" && m.File != nil && len(m.File.Content) > 0 {
		if err := c.upload(ctx, *m.File, a); err != nil {
			return err
		}
	}
	if !a.shown() {
		if err := c.find(ctx, at, m, key, a); err != nil {
			return err
		}
	}
	if !a.shown() {
		if err := c.show(ctx, at, m, key, a); err != nil {
			return err
		}
	}
	if a.file == "" {
		return nil
	}
	return c.share(ctx, a)
}

// show posts, once.
func (c *call) show(ctx context.Context, at chat.Place, m chat.Message, key string, a *attempt) error {
	said := options(m.Text, m.Buttons, key)
	if at.Thread != "" {
		said = append(said, slack.MsgOptionTS(at.Thread))
	}
	if key != "" {
		said = append(said, slack.MsgOptionMetadata(slack.SlackMetadata{EventType: keyed, EventPayload: map[string]any{"key": key}}))
	}
	channel, id, answer, err := c.PostMessageWithResponseContext(ctx, at.Chat, said...)
	if err == nil && (id == "" || channel == "") {
		err = errAnswer
	}
	if err != nil {
		a.unsure = mayHaveHappened(err)
		return err
	}
	a.ref = chat.Ref{Place: chat.Place{Chat: channel, Thread: answer.ThreadTimestamp}, Message: id} // in no thread, if that is no more
	return nil
}

// Edit shows another message in the place of one; what is not given it loses, but for
// its key and its file.
func (s *Slack) Edit(ctx context.Context, at chat.Ref, m chat.Message) error {
	c, err := s.begin()
	if err != nil {
		return err
	}
	_, id, _, err := c.UpdateMessageContext(ctx, at.Chat, at.Message, options(m.Text, m.Buttons, "")...)
	if err == nil && id == "" {
		err = errAnswer
	}
	return c.fault("editing a message at slack", err)
}

// whisper tells one person something in a chat.
func (s *Slack) whisper(ctx context.Context, at chat.Place, to string, text chat.Text) error {
	c, err := s.begin()
	if err != nil {
		return err
	}
	said := options(text, nil, "")
	if at.Thread != "" {
		said = append(said, slack.MsgOptionTS(at.Thread))
	}
	_, err = c.PostEphemeralContext(ctx, at.Chat, to, said...)
	return c.fault("telling somebody alone at slack", err)
}

// upload brings a file to Slack, where nobody sees it yet.
func (c *call) upload(ctx context.Context, f chat.File, a *attempt) error {
	place, err := c.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{FileName: f.Name, FileSize: len(f.Content)})
	if err != nil {
		return err
	}
	if place.FileID == "" {
		return errAnswer
	}
	c.secrets = append(c.secrets, bailiff.NewSecret(place.UploadURL))
	if err := c.UploadToURL(ctx, slack.UploadToURLParameters{UploadURL: place.UploadURL, Filename: f.Name, Content: string(f.Content)}); err != nil {
		return fmt.Errorf("sending a file: %w", err)
	}
	a.file, a.title = place.FileID, f.Name
	return nil
}

// share puts the file below the message, unless it is there.
func (c *call) share(ctx context.Context, a *attempt) error {
	below := a.ref.Thread
	if below == "" {
		below = a.ref.Message
	}
	if a.shareUnsure {
		there, err := c.isShared(ctx, chat.Place{Chat: a.ref.Chat, Thread: below}, a)
		if err != nil {
			return err
		}
		if a.shareUnsure = false; there {
			a.file = ""
			return nil
		}
	}
	_, err := c.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
		Files: []slack.FileSummary{{ID: a.file, Title: a.title}}, Channel: a.ref.Chat, ThreadTimestamp: below})
	if err != nil {
		a.shareUnsure = mayHaveHappened(err)
		return err
	}
	a.file = ""
	return nil
}

func (c *call) isShared(ctx context.Context, at chat.Place, a *attempt) (there bool, err error) {
	err = c.recent(ctx, at, a.since, func(m stored) bool {
		for _, f := range m.Files {
			there = there || f.ID == a.file
		}
		return there
	})
	return there, err
}

// find looks for the message where it may stand already.
func (c *call) find(ctx context.Context, at chat.Place, m chat.Message, key string, a *attempt) error {
	if id := c.s.shown.find(at, key); id != "" {
		a.ref = chat.Ref{Place: at, Message: id}
		return nil
	}
	first := len(m.Buttons) > 0 && !c.s.shown.knows(at)
	if key == "" || !a.unsure && !first {
		return nil
	}
	me, err := c.s.me(ctx)
	if err != nil {
		return err
	}
	keys := map[string]string{}
	since := a.since
	if first {
		since = since.Add(-lookBack)
	}
	err = c.recent(ctx, at, since, func(m stored) bool {
		if found := m.key(); found != "" && m.User == me.user {
			keys[found] = m.TS
		}
		return !first && keys[key] != ""
	})
	if err != nil {
		return err
	}
	if first {
		c.s.shown.learn(at, keys)
	}
	a.unsure = false
	if id := keys[key]; id != "" {
		a.ref = chat.Ref{Place: at, Message: id}
	}
	return nil
}

// lookBack is how far back an earlier life's messages are looked for.
const lookBack = 24 * time.Hour
