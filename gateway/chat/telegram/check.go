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

// Check looks whether the bot can do what it must. It shows no message, only that the bot
// is typing.
func (t *Telegram) Check(ctx context.Context, people []chat.Person) []chat.Finding {
	if err := t.getMe(ctx); err != nil {
		return []chat.Finding{{What: "token", Err: chatError(err)}}
	}
	found := []chat.Finding{{What: "token (the bot is @" + t.me.Load().Username + ")"}, t.privacy(), t.checkChat(ctx)}
	if t.config.Approvals == "" {
		return found
	}
	var at place
	if err := ask(ctx, t, (*bot.Bot).GetChat, &bot.GetChatParams{ChatID: t.config.Approvals}, &at); err != nil {
		return append(found, chat.Finding{What: "approvals in chat " + t.config.Approvals, Err: chatError(err)})
	}
	found = append(found, chat.Finding{What: "approvals in " + chatName(at), Err: t.checkPosting(ctx, at)})
	for _, one := range people {
		found = append(found, chat.Finding{What: fmt.Sprintf("%s (%s) sees %s", one.Name, one.ID, chatName(at)),
			Err: t.checkMember(ctx, at, one)})
	}
	return found
}

// place is a chat.
type place struct {
	models.Chat
	Permissions *models.ChatPermissions `json:"permissions"`
}

// chatName is a chat's name for people.
func chatName(at place) string {
	if at.Title == "" {
		return fmt.Sprintf("private chat %d", at.ID)
	}
	return fmt.Sprintf("%s %d (%q)", at.Type, at.ID, bailiff.Foreign(at.Title))
}

// privacy says which messages of groups the bot gets. Both modes are fine.
func (t *Telegram) privacy() chat.Finding {
	if t.me.Load().CanReadAllGroupMessages {
		return chat.Finding{What: "in groups the bot is told every message: its privacy mode is off"}
	}
	return chat.Finding{What: "in groups the bot is told commands, mentions and replies to it only, and everything where it is an " +
		"administrator: its privacy mode is on"}
}

// checkChat looks at the webhook, whether it is wanted or left over.
func (t *Telegram) checkChat(ctx context.Context) chat.Finding {
	info, err := t.webhookInfo(ctx)
	switch {
	case err != nil:
		return chat.Finding{What: "webhook", Err: chatError(err)}
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

// checkPosting says why the bot cannot post in a chat.
func (t *Telegram) checkPosting(ctx context.Context, at place) error {
	switch at.Type {
	case models.ChatTypePrivate:
		return t.canType(ctx, at.ID)
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
	case me.isRestricted() && !(me.CanSendMessages && me.CanSendDocuments):
		return errors.New("the bot may not write or send files there: lift its restriction in the group's list of members")
	case at.Permissions != nil && !(at.Permissions.CanSendMessages && at.Permissions.CanSendDocuments):
		return errors.New("members may not write or send files there: allow it in the group's permissions, or make the bot an " +
			"administrator without further rights")
	}
	return t.canType(ctx, at.ID)
}

// canType shows that the bot is typing, which proves that it may write there and notifies
// no one.
func (t *Telegram) canType(ctx context.Context, to int64) error {
	return chatError(ask(ctx, t, (*bot.Bot).SendChatAction, &bot.SendChatActionParams{ChatID: to, Action: models.ChatActionTyping}, nil))
}

// checkMember says why a person cannot see what is posted in a chat.
func (t *Telegram) checkMember(ctx context.Context, at place, one chat.Person) error {
	id, err := strconv.ParseInt(one.ID, 10, 64)
	switch {
	case err != nil || id <= 0:
		return fmt.Errorf("%q is nobody's id at Telegram: want a number, which the bot tells who writes /start to it", one.ID)
	case at.Type == models.ChatTypePrivate && at.ID != id:
		return errors.New("approvals go to the private chat of somebody else: put the id of a group in approvals, with all who answer " +
			"in it")
	case at.Type == models.ChatTypePrivate:
		if err := t.canType(ctx, id); err != nil {
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

// member is a user's membership in a group.
type member struct {
	Status models.ChatMemberType `json:"status"`
	// These belong to a restricted member.
	IsMember         bool `json:"is_member"`
	CanSendMessages  bool `json:"can_send_messages"`
	CanSendDocuments bool `json:"can_send_documents"`
}

func (m member) in() bool {
	return m.admin() || m.Status == models.ChatMemberTypeMember || m.isRestricted() && m.IsMember
}

func (m member) admin() bool {
	return m.Status == models.ChatMemberTypeOwner || m.Status == models.ChatMemberTypeAdministrator
}

func (m member) isRestricted() bool { return m.Status == models.ChatMemberTypeRestricted }

func (t *Telegram) member(ctx context.Context, group, who int64) (m member, err error) {
	err = ask(ctx, t, (*bot.Bot).GetChatMember, &bot.GetChatMemberParams{ChatID: group, UserID: who}, &m)
	return m, chatError(err)
}
