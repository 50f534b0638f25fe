package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// Check looks whether the bot can do what it must. It shows nobody anything, but that
// the bot is typing.
func (t *Telegram) Check(ctx context.Context, people []chat.Person) []chat.Finding {
	if err := t.learn(ctx); err != nil {
		return []chat.Finding{{What: "token", Err: told(err)}}
	}
	found := []chat.Finding{{What: "token (the bot is @" + t.me.Load().Username + ")"}, t.privacy(), t.reached(ctx)}
	if t.config.Approvals == "" {
		return found
	}
	var at place
	if err := ask(ctx, t, (*bot.Bot).GetChat, &bot.GetChatParams{ChatID: t.config.Approvals}, &at); err != nil {
		return append(found, chat.Finding{What: "approvals in chat " + t.config.Approvals, Err: told(err)})
	}
	found = append(found, chat.Finding{What: "approvals in " + named(at), Err: t.postable(ctx, at)})
	for _, one := range people {
		found = append(found, chat.Finding{What: fmt.Sprintf("%s (%s) sees %s", one.Name, one.ID, named(at)), Err: t.sees(ctx, at, one)})
	}
	return found
}

// place is a chat.
type place struct {
	models.Chat
	Permissions *models.ChatPermissions `json:"permissions"`
}

// named is a chat as people know it.
func named(at place) string {
	if at.Title == "" {
		return fmt.Sprintf("private chat %d", at.ID)
	}
	return fmt.Sprintf("%s %d (%q)", at.Type, at.ID, bailiff.Foreign(at.Title))
}

// privacy tells what the bot hears in groups. Both are well: the first needs least.
func (t *Telegram) privacy() chat.Finding {
	if t.me.Load().CanReadAllGroupMessages {
		return chat.Finding{What: "in groups the bot is told every message: its privacy mode is off"}
	}
	return chat.Finding{What: "in groups the bot is told commands, mentions and replies to it only, and everything where it is an administrator: its privacy mode is on"}
}

// reached looks at the webhook, whether it is wanted or left over.
func (t *Telegram) reached(ctx context.Context) chat.Finding {
	info, err := t.info(ctx)
	switch {
	case err != nil:
		return chat.Finding{What: "webhook", Err: told(err)}
	case t.config.Webhook == nil && info.URL == "":
		return chat.Finding{What: "updates by asking for them"}
	case t.config.Webhook == nil:
		return chat.Finding{What: "updates by asking for them, once the sidecar has taken back the webhook that is set"}
	case info.URL != t.config.Webhook.URL:
		return chat.Finding{What: "webhook, which the sidecar sets when it starts"}
	case info.LastErrorMessage != "" && info.PendingUpdateCount > 0:
		return chat.Finding{What: "webhook", Err: unreachable(info)}
	}
	return chat.Finding{What: "webhook"}
}

// postable says what keeps the bot from posting in a chat.
func (t *Telegram) postable(ctx context.Context, at place) error {
	switch at.Type {
	case models.ChatTypePrivate:
		return t.types(ctx, at.ID)
	case models.ChatTypeChannel:
		return errors.New("it is a channel, where nobody can answer in words: want a group, or a private chat")
	}
	me, err := t.member(ctx, at.ID, t.me.Load().ID)
	switch {
	case err != nil:
		return err
	case !me.in():
		return errors.New("the bot is not in it: add it there")
	case me.admin():
		return nil
	case me.restricted() && !(me.CanSendMessages && me.CanSendDocuments):
		return errors.New("the bot may not write or send files there: lift its restriction in the group's list of members")
	case at.Permissions != nil && !(at.Permissions.CanSendMessages && at.Permissions.CanSendDocuments):
		return errors.New("members may not write or send files there: allow it in the group's permissions, or make the bot an administrator without further rights")
	}
	return t.types(ctx, at.ID)
}

// types shows that the bot is typing, which nobody is notified of: it may write there.
func (t *Telegram) types(ctx context.Context, to int64) error {
	return told(ask(ctx, t, (*bot.Bot).SendChatAction, &bot.SendChatActionParams{ChatID: to, Action: models.ChatActionTyping}, nil))
}

// sees says what keeps somebody from seeing what is posted in a chat.
func (t *Telegram) sees(ctx context.Context, at place, one chat.Person) error {
	id, err := strconv.ParseInt(one.ID, 10, 64)
	switch {
	case err != nil || id <= 0:
		return fmt.Errorf("%q is nobody's id at Telegram: want a number, which the bot tells who writes /start to it", one.ID)
	case at.Type == models.ChatTypePrivate && at.ID != id:
		return errors.New("approvals go to the private chat of somebody else: put the id of a group in approvals, with all who answer in it")
	case at.Type == models.ChatTypePrivate:
		if err := t.types(ctx, id); err != nil {
			return fmt.Errorf("the bot may write to nobody who has not opened it and pressed Start: %w", err)
		}
		return nil
	}
	who, err := t.member(ctx, at.ID, id)
	var refused *chat.Refused
	switch {
	case errors.As(err, &refused), err == nil && !who.in():
		return errors.New("is not in it: add them to the group, or look whether the id is theirs (the bot tells who writes /start to it)")
	}
	return err
}

// member is what somebody is in a group.
type member struct {
	Status models.ChatMemberType `json:"status"`
	// These are of somebody who is restricted.
	IsMember         bool `json:"is_member"`
	CanSendMessages  bool `json:"can_send_messages"`
	CanSendDocuments bool `json:"can_send_documents"`
}

func (m member) in() bool {
	return m.admin() || m.Status == models.ChatMemberTypeMember || m.restricted() && m.IsMember
}

func (m member) admin() bool {
	return m.Status == models.ChatMemberTypeOwner || m.Status == models.ChatMemberTypeAdministrator
}

func (m member) restricted() bool { return m.Status == models.ChatMemberTypeRestricted }

func (t *Telegram) member(ctx context.Context, group, who int64) (m member, err error) {
	err = ask(ctx, t, (*bot.Bot).GetChatMember, &bot.GetChatMemberParams{ChatID: group, UserID: who}, &m)
	return m, told(err)
}
