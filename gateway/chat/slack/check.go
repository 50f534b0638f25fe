package slack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// Scopes are what the bot must be allowed, and what for.
var Scopes = map[string]string{
	"chat:write":       "to post and edit messages",
	"files:write":      "to attach what is too long for a message",
	"commands":         "for /bailiff",
	"im:history":       "to read messages that are written to it",
	"channels:history": "to read threads it is in, and to find a message of its own whose posting ended uncertainly",
	"groups:history":   "the same in private channels",
	"mpim:history":     "the same in conversations of several people",
	"channels:read":    "to see in a check who is in the channel of approvals",
	"groups:read":      "the same of a private one",
}

// Check asks Slack for everything that can be asked without posting. To which events the
// app is subscribed cannot.
func (s *Slack) Check(ctx context.Context, people []chat.Person) []chat.Finding {
	all := []chat.Finding{s.checkTransport(ctx)}
	c, err := s.begin()
	if err != nil {
		return append(all, chat.Finding{What: "bot token", Err: err})
	}
	me, err := c.AuthTestContext(ctx)
	all = append(all, chat.Finding{What: "bot token", Err: c.fault("asking slack who the app is", err)})
	if err != nil {
		return all
	}
	all = append(all, checkScopes(me.Header.Get("X-OAuth-Scopes"))...)
	if s.cfg.Approvals == "" {
		return all
	}
	f := c.checkChat(ctx, s.cfg.Approvals)
	if all = append(all, f); f.Err != nil || len(people) == 0 {
		return all
	}
	return append(all, c.checkPeople(ctx, s.cfg.Approvals, people)...)
}

// checkTransport looks at how Slack reaches the app.
func (s *Slack) checkTransport(ctx context.Context) chat.Finding {
	if s.cfg.Listen != "" {
		secret, err := s.cfg.SigningSecret()
		if err == nil && secret.Reveal() == "" {
			err = errors.New("it is empty: copy it from Basic Information of the app's settings")
		}
		return chat.Finding{What: "signing secret", Err: err}
	}
	c, err := s.beginApp()
	if err == nil {
		_, _, err = c.StartSocketModeContext(ctx)
		err = c.fault("opening a connection to slack", err)
	}
	return chat.Finding{What: "app token", Err: err}
}

// checkScopes finds the missing ones, or that there are none.
func checkScopes(header string) (all []chat.Finding) {
	given := strings.FieldsFunc(header, func(c rune) bool { return c == ',' || c == ' ' })
	for scope, why := range Scopes {
		if !slices.Contains(given, scope) {
			all = append(all, chat.Finding{What: "scope " + scope,
				Err: fmt.Errorf("the app lacks it, %s: add it to the bot's scopes under OAuth & Permissions, and install the app again",
					why)})
		}
	}
	if len(all) == 0 {
		return []chat.Finding{{What: "scopes"}}
	}
	slices.SortFunc(all, func(a, b chat.Finding) int { return strings.Compare(a.What, b.What) })
	return all
}

// checkChat looks whether the app could post in a chat.
func (c *call) checkChat(ctx context.Context, id string) chat.Finding {
	var about struct {
		Channel struct {
			IsMember   bool `json:"is_member"`
			IsIM       bool `json:"is_im"`
			IsArchived bool `json:"is_archived"`
		} `json:"channel"`
	}
	err := c.do(ctx, "conversations.info", url.Values{"channel": {id}}, &about)
	switch {
	case err != nil:
		err = c.fault("looking at "+id, err)
	case about.Channel.IsArchived:
		err = &chat.Refused{Reason: refusals["is_archived"]}
	case !about.Channel.IsMember && !about.Channel.IsIM:
		err = &chat.Refused{Reason: refusals["not_in_channel"]}
	}
	return chat.Finding{What: "chat " + id, Err: err}
}

// maxMembers bounds the pages of a channel's members.
const maxMembers = 500

func (c *call) checkPeople(ctx context.Context, id string, people []chat.Person) (all []chat.Finding) {
	members, err := c.members(ctx, id)
	for _, p := range people {
		f := chat.Finding{What: fmt.Sprintf("%s (%s) sees %s", bailiff.Foreign(p.Name), bailiff.Foreign(p.ID), id), Err: err}
		if err == nil && !members[p.ID] {
			f.Err = errors.New("they are not in the channel: invite them, or use the id of theirs that their profile shows (Copy member " +
				"ID)")
		}
		all = append(all, f)
	}
	return all
}

func (c *call) members(ctx context.Context, id string) (map[string]bool, error) {
	all := map[string]bool{}
	arguments := url.Values{"channel": {id}, "limit": {"200"}}
	for range maxMembers {
		var page struct {
			Members []string `json:"members"`
			Next    struct {
				Cursor string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if err := c.do(ctx, "conversations.members", arguments, &page); err != nil {
			return nil, c.fault("asking who is in "+id, err)
		}
		for _, member := range page.Members {
			all[member] = true
		}
		if page.Next.Cursor == "" {
			return all, nil
		}
		arguments.Set("cursor", page.Next.Cursor)
	}
	return nil, fmt.Errorf("there are too many people in %s to look at", id)
}
