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

// Post shows a message, and its file in the thread below it. The upload, which may be
// refused, comes before the message.
func (s *Slack) Post(ctx context.Context, at chat.Place, m chat.Message, key string) (chat.Ref, error) {
	c, err := s.begin()
	if err != nil {
		return chat.Ref{}, err
	}
	a := s.deliveries.take(key)
	err = c.post(ctx, at, m, key, a)
	s.deliveries.keep(key, a)
	if err != nil {
		return chat.Ref{}, c.fault(posting, err)
	}
	return a.ref, nil
}

func (c *call) post(ctx context.Context, at chat.Place, m chat.Message, key string, a *delivery) error {
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
func (c *call) show(ctx context.Context, at chat.Place, m chat.Message, key string, a *delivery) error {
	said := options(m.Text, m.Buttons, key)
	if at.Thread != "" {
		said = append(said, slack.MsgOptionTS(at.Thread))
	}
	if key != "" {
		said = append(said, slack.MsgOptionMetadata(slack.SlackMetadata{EventType: metadataType, EventPayload: map[string]any{"key": key}}))
	}
	channel, id, answer, err := c.PostMessageWithResponseContext(ctx, at.Chat, said...)
	if err == nil && (id == "" || channel == "") {
		err = errAnswer
	}
	if err != nil {
		a.unsure = mayHaveSucceeded(err)
		return err
	}
	a.ref = chat.Ref{Place: chat.Place{Chat: channel, Thread: answer.ThreadTimestamp}, Message: id} // in no thread, if that is no more
	return nil
}

// Edit replaces a message. Its key and its file stay, everything else is replaced.
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

// postEphemeral shows a text in a chat to one person only.
func (s *Slack) postEphemeral(ctx context.Context, at chat.Place, to string, text chat.Text) error {
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

// upload uploads a file, which is not shown yet.
func (c *call) upload(ctx context.Context, f chat.File, a *delivery) error {
	place, err := c.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{FileName: f.Name, FileSize: len(f.Content)})
	if err != nil {
		return err
	}
	if place.FileID == "" {
		return errAnswer
	}
	c.secrets = append(c.secrets, bailiff.NewSecret(place.UploadURL))
	if err := c.UploadToURL(ctx, slack.UploadToURLParameters{UploadURL: place.UploadURL, Filename: f.Name,
		Content: string(f.Content)}); err != nil {
		return fmt.Errorf("sending a file: %w", err)
	}
	a.file, a.title = place.FileID, f.Name
	return nil
}

// share puts the file below the message, unless it is there.
func (c *call) share(ctx context.Context, a *delivery) error {
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
		a.shareUnsure = mayHaveSucceeded(err)
		return err
	}
	a.file = ""
	return nil
}

func (c *call) isShared(ctx context.Context, at chat.Place, a *delivery) (there bool, err error) {
	err = c.recent(ctx, at, a.since, func(m historyMessage) bool {
		for _, f := range m.Files {
			there = there || f.ID == a.file
		}
		return there
	})
	return there, err
}

// find looks for a message that may be shown already.
func (c *call) find(ctx context.Context, at chat.Place, m chat.Message, key string, a *delivery) error {
	if id := c.s.history.find(at, key); id != "" {
		a.ref = chat.Ref{Place: at, Message: id}
		return nil
	}
	first := len(m.Buttons) > 0 && !c.s.history.knows(at)
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
	err = c.recent(ctx, at, since, func(m historyMessage) bool {
		if found := m.key(); found != "" && m.User == me.user {
			keys[found] = m.TS
		}
		return !first && keys[key] != ""
	})
	if err != nil {
		return err
	}
	if first {
		c.s.history.learn(at, keys)
	}
	a.unsure = false
	if id := keys[key]; id != "" {
		a.ref = chat.Ref{Place: at, Message: id}
	}
	return nil
}

// lookBack is how far back messages of earlier runs are looked for.
const lookBack = 24 * time.Hour
