package discord

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
)

func TestPermissionsAreAsDiscordCountsThem(t *testing.T) {
	t.Parallel()
	const view, send, files = discordgo.PermissionViewChannel, discordgo.PermissionSendMessages, discordgo.PermissionAttachFiles
	over := func(id string, allow, deny int64) *discordgo.PermissionOverwrite {
		return &discordgo.PermissionOverwrite{ID: id, Allow: allow, Deny: deny}
	}
	for name, c := range map[string]struct {
		who  string
		over []*discordgo.PermissionOverwrite
		want int64
	}{
		"roles add up":                     {"ana", nil, view | send | files},
		"who has no role has everybody's":  {"bob", nil, view | send},
		"the channel takes from everybody": {"bob", []*discordgo.PermissionOverwrite{over("guild", 0, send)}, view},
		"a role gives it back": {"ana", []*discordgo.PermissionOverwrite{over("guild", 0, send), over("helpers", send, 0)},
			view | send | files},
		"one role's yes is more than a no": {"ana", []*discordgo.PermissionOverwrite{over("helpers", 0, send), over("others", send, 0)},
			view | send | files},
		"a role of others is nobody's here": {"bob", []*discordgo.PermissionOverwrite{over("helpers", files, 0)}, view | send},
		"the member's own is the last": {"ana", []*discordgo.PermissionOverwrite{over("ana", 0, files), over("helpers", files, 0)},
			view | send},
		"who does not see it may do nothing": {"ana", []*discordgo.PermissionOverwrite{over("guild", 0, view)}, 0},
		"an administrator may everything":    {"adm", []*discordgo.PermissionOverwrite{over("guild", 0, view)}, -1},
		"the owner may everything":           {"own", []*discordgo.PermissionOverwrite{over("own", 0, view)}, -1},
		"who is not there may nothing":       {"eve", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := permissionScope{members: map[string]*discordgo.Member{
				"ana": {Roles: []string{"helpers", "others"}}, "bob": {}, "adm": {Roles: []string{"admins"}}, "own": {},
			}}
			r.server.ID, r.server.OwnerID = "guild", "own"
			r.server.Roles = []*discordgo.Role{
				{ID: "guild", Permissions: view | send}, {ID: "helpers", Permissions: files}, {ID: "others"},
				{ID: "admins", Permissions: discordgo.PermissionAdministrator},
			}
			r.channel.PermissionOverwrites = c.over
			if got := r.permissions(c.who); got != c.want {
				t.Errorf("%s has %b, want %b", c.who, got, c.want)
			}
		})
	}
}

func TestTheInvitationAsksForWhatIsNeededAndNothingMore(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/chat/discord.md")
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, n := range needed {
		sum |= n.bit
		if !strings.Contains(string(page), n.name) {
			t.Errorf("the page does not name %s", n.name)
		}
	}
	if want := fmt.Sprintf("scope=bot+applications.commands&permissions=%d\n", sum); !strings.Contains(string(page), want) {
		t.Errorf("the page does not ask for %q", want)
	}
}
