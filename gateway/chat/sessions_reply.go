package chat

import (
	"context"
	"time"
)

// sendContext is for sending within a time, also while the sessions close.
func (s *Sessions) sendContext(within time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.sendCtx, within)
}

// replyAsync replies to a message, and does not wait for it.
func (s *Sessions) replyAsync(to Said, what Text) {
	s.startReply(to, func(ctx context.Context) { s.reply(ctx, to, what) })
}

// startReply sends a reply in a goroutine. Where too many are being sent, it is dropped.
func (s *Sessions) startReply(to Said, do func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for _, n := range s.replies {
		total += n
	}
	if s.closed || total >= maxReplies || s.replies[to.Chat] >= maxRepliesOfChat {
		return
	}
	s.replies[to.Chat]++
	s.work.Go(func() {
		defer s.endReply(to.Chat)
		defer s.recoverPanic(func() {})
		ctx, cancel := s.sendContext(replyTimeout)
		defer cancel()
		do(ctx)
	})
}

// endReply counts a reply as sent.
func (s *Sessions) endReply(chat string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replies[chat]--; s.replies[chat] == 0 {
		delete(s.replies, chat)
	}
}

// reply replies to a message, at the message's place.
func (s *Sessions) reply(ctx context.Context, to Said, what Text) {
	if to.SlashCommand && to.Ephemeral != nil {
		s.replyEphemeral(ctx, to, what)
		return
	}
	err := retry(ctx, nil, func(ctx context.Context) error {
		_, err := s.config.Surface.Post(ctx, to.Place, Message{Text: what}, keyOf("reply", to.Chat, to.Message))
		return err
	})
	s.logUnsent(to.Chat, err)
}

// replyEphemeral replies to a message so that only its writer sees it.
func (s *Sessions) replyEphemeral(ctx context.Context, to Said, what Text) {
	s.logUnsent(to.Chat, retry(ctx, nil, func(ctx context.Context) error { return to.Ephemeral(ctx, what) }))
}

// logUnsent logs that a text could not be shown.
func (s *Sessions) logUnsent(chat string, err error) {
	if err != nil && s.sendCtx.Err() == nil {
		s.config.Log.Warn("a chat does not take an answer, which is dropped", "platform", s.config.Platform, "chat", chat, "error", err)
	}
}

// refuseUser says once to a user who may not give commands that they may not, where only
// they see it. A slash command is answered each time.
func (s *Sessions) refuseUser(said Said) {
	if said.By.ID == "" || !said.Mentioned && said.Kind != "dm" {
		return
	}
	s.mu.Lock()
	_, told := s.refused.Get(said.By.ID)
	s.refused.Put(said.By.ID, struct{}{})
	s.mu.Unlock()
	if !told {
		s.config.Log.Info("somebody who may not gives commands in a chat", "platform", s.config.Platform, "chat", said.Chat, "user",
			said.By.ID)
	}
	what := saying("You may not give commands here. Who may is in allowed_users of bailiff's configuration; you are " + said.By.ID + ".")
	switch {
	case told && !said.SlashCommand:
	case said.Ephemeral != nil:
		s.startReply(said, func(ctx context.Context) { s.replyEphemeral(ctx, said, what) })
	case said.Kind == "dm":
		s.replyAsync(said, what)
	}
}

func saying(text string) Text { return Text{{Plain, text}} }
