package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// contentFlags mark applications that get the text of messages: of many servers,
// or of few.
const contentFlags = 1<<18 | 1<<19

// needed are the permissions that the bot needs where approvals are posted.
var needed = []struct {
	name string
	bit  int64
}{
	{"View Channel", discordgo.PermissionViewChannel},
	{"Send Messages", discordgo.PermissionSendMessages},
	{"Read Message History", discordgo.PermissionReadMessageHistory},
	{"Attach Files", discordgo.PermissionAttachFiles},
	{"Create Public Threads", discordgo.PermissionCreatePublicThreads},
	{"Send Messages in Threads", discordgo.PermissionSendMessagesInThreads},
}

// Check looks at the token, the intent, and at the channel of the approvals: whether
// the bot may do there what it must, and whether people see it.
func (d *Discord) Check(ctx context.Context, people []chat.Person) (all []chat.Finding) {
	var me struct{ ID, Username string }
	err := d.get(ctx, "/users/@me", &me)
	all = append(all, chat.Finding{What: "token", Err: err})
	if err != nil {
		return all
	}
	all = append(all, chat.Finding{What: "Message Content Intent", Err: d.checkContentIntent(ctx)})
	if d.cfg.Approvals == "" {
		return all
	}
	r, err := d.permissionScope(ctx, me.ID)
	all = append(all, chat.Finding{What: "channel " + d.cfg.Approvals, Err: err})
	if err != nil {
		return all
	}
	all = append(all, r.lacks(me.ID)...)
	for _, p := range people {
		all = append(all, chat.Finding{What: fmt.Sprintf("%s (%s) sees channel %s", p.Name, p.ID, d.cfg.Approvals),
			Err: r.reaches(ctx, p.ID)})
	}
	return all
}

func (d *Discord) get(ctx context.Context, path string, out any) error {
	return refusal(d.do(ctx, http.MethodGet, path, nil, out), d.cfg.Approvals, "View Channel")
}

func (d *Discord) checkContentIntent(ctx context.Context) error {
	var app struct{ Flags int64 }
	if err := d.get(ctx, "/applications/@me", &app); err != nil {
		return err
	}
	if app.Flags&contentFlags == 0 {
		return errors.New(fatalCloseCodes[closeNoSuchIntents])
	}
	return nil
}

// permissionScope is the channel of approvals with all that decides permissions there.
type permissionScope struct {
	d       *Discord
	channel discordgo.Channel
	server  struct {
		ID      string
		OwnerID string `json:"owner_id"`
		Roles   []*discordgo.Role
	}
	members map[string]*discordgo.Member
}

func (d *Discord) permissionScope(ctx context.Context, me string) (*permissionScope, error) {
	r := &permissionScope{d: d, members: map[string]*discordgo.Member{}}
	if err := d.get(ctx, "/channels/"+url.PathEscape(d.cfg.Approvals), &r.channel); err != nil {
		return nil, err
	}
	if r.channel.IsThread() { // which has its channel's permissions
		if err := d.get(ctx, "/channels/"+url.PathEscape(r.channel.ParentID), &r.channel); err != nil {
			return nil, err
		}
	}
	if r.channel.GuildID == "" {
		return nil, fmt.Errorf("channel %s is a direct message: want a channel of a server, where others see who answered", d.cfg.Approvals)
	}
	if err := d.get(ctx, "/guilds/"+r.channel.GuildID, &r.server); err != nil {
		return nil, err
	}
	return r, r.member(ctx, me)
}

// member looks a user up in the server.
func (r *permissionScope) member(ctx context.Context, id string) error {
	var m discordgo.Member
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return fmt.Errorf("%q is no id of Discord's: want the number that Copy User ID gives in Discord with Developer Mode on", id)
	}
	err := r.d.do(ctx, http.MethodGet, "/guilds/"+r.server.ID+"/members/"+id, nil, &m)
	if hasCode(err, unknownMember) || hasCode(err, unknownUser) {
		return fmt.Errorf("nobody in the server has the id %s: invite them, or correct the id in people", id)
	}
	if err == nil {
		r.members[id] = &m
	}
	return refusal(err, r.channel.ID, "View Channel")
}

func (r *permissionScope) lacks(me string) (all []chat.Finding) {
	has := r.permissions(me)
	for _, n := range needed {
		f := chat.Finding{What: "permission " + n.name}
		if has&n.bit == 0 {
			f.Err = fmt.Errorf("the bot lacks the permission %s in channel %s: give it to the bot's role in the settings of the server "+
				"or of the channel",
				n.name, r.d.cfg.Approvals)
		}
		all = append(all, f)
	}
	return all
}

func (r *permissionScope) reaches(ctx context.Context, id string) error {
	if err := r.member(ctx, id); err != nil {
		return err
	}
	if r.permissions(id)&discordgo.PermissionViewChannel == 0 {
		return fmt.Errorf("%s may not see channel %s: give them View Channel there", id, r.d.cfg.Approvals)
	}
	return nil
}

// permissions are what a member may do in the channel: what its roles let, and then what
// the channel takes away and gives, first for all, then by role, then by member.
func (r *permissionScope) permissions(id string) (may int64) {
	m := r.members[id]
	if m == nil || id == r.server.OwnerID {
		return allOrNone(m != nil)
	}
	for _, role := range r.server.Roles {
		if role.ID == r.server.ID || slices.Contains(m.Roles, role.ID) {
			may |= role.Permissions
		}
	}
	if may&discordgo.PermissionAdministrator != 0 {
		return allOrNone(true)
	}
	for _, group := range [](func(*discordgo.PermissionOverwrite) bool){
		func(o *discordgo.PermissionOverwrite) bool { return o.ID == r.server.ID },
		func(o *discordgo.PermissionOverwrite) bool {
			return o.ID != r.server.ID && slices.Contains(m.Roles, o.ID)
		},
		func(o *discordgo.PermissionOverwrite) bool { return o.ID == id },
	} {
		var deny, allow int64
		for _, o := range r.channel.PermissionOverwrites {
			if group(o) {
				deny, allow = deny|o.Deny, allow|o.Allow
			}
		}
		may = may&^deny | allow
	}
	if may&discordgo.PermissionViewChannel == 0 {
		return 0
	}
	return may
}

// allOrNone are all permissions, or none.
func allOrNone(yes bool) int64 {
	if yes {
		return -1
	}
	return 0
}
