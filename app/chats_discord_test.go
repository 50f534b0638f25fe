package app

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

const (
	anaAtDiscord = "800000000000000042"
	benAtDiscord = "800000000000000043"
	eveAtDiscord = "800000000000000044"
)

// discordHall is a sidecar with a bot at Discord: ana gives commands there, and ben, as
// she, answers approvals in the server's channel.
func discordHall(tb testing.TB) *discordtest.Server {
	tb.Helper()
	folder := openDir(tb)
	discord := discordtest.New(tb)
	discord.Patience = time.Until(awaittest.End(tb)) // its own tests want the three seconds
	save(tb, filepath.Join(folder, "discord.token"), discord.Token)
	_, house := withHouse(tb, houseAsksAboutMarked)
	text := fmt.Sprintf(`state_dir: state
agent: {listeners: [{name: test, listen: "unix://%[1]s/a.sock", uids: [4242]}]}
operator: {listen: "unix://%[1]s/o.sock"}
people: [{name: ana, discord: [%[2]q]}, {name: ben, discord: [%[3]q]}]
discord: {url: %[4]q, token: {file: discord.token}, approvals: %[5]q, allowed_users: [%[2]q]}
metrics: {listen: "127.0.0.1:0"}
runner: {path: %[6]s}
backends: {bubblewrap: {}}
`, openDir(tb), anaAtDiscord, benAtDiscord, discord.URL(), discordtest.Channel, backendtest.Runner(tb)) + house
	if _, err := tryServe(tb, folder, text); err != nil {
		tb.Fatal(err)
	}
	discord.AwaitSessions(1)
	return discord
}

func atDiscord(words ...string) func([]discordtest.Message) bool {
	return func(all []discordtest.Message) bool {
		for _, m := range all {
			has := 0
			for _, w := range words {
				if strings.Contains(m.Text, w) {
					has++
				}
			}
			if has == len(words) {
				return true
			}
		}
		return false
	}
}

// tells is of what a person is told: at once, or later where that took more than a moment.
func tells(words string) func([]string) bool {
	return func(told []string) bool { return strings.Contains(strings.Join(told, "\n"), words) }
}

func TestAMentionAtDiscordMakesAThreadThatIsASession(t *testing.T) {
	t.Parallel()
	discord := discordHall(t)
	general := discord.AddChannel()
	thread := discord.Write(anaAtDiscord, general, "", discordtest.MentionBot+" echo 'in a *thread*' && cd /tmp")
	discord.Await(thread, atDiscord("in a *thread*"))
	discord.Write(anaAtDiscord, general, thread, "pwd")
	discord.Await(thread, atDiscord("/tmp"))
	if shown := discord.Shown(general); len(shown) != 0 {
		t.Errorf("the channel shows %+v", shown)
	}
	discord.Command(anaAtDiscord, general, thread, "status")
	discord.AwaitTold(anaAtDiscord, tells("bubblewrap"))
	discord.Command(eveAtDiscord, general, thread, "stop")
	discord.AwaitTold(eveAtDiscord, tells("You may not give commands here"))
}

func TestAnApprovalAtDiscordIsAnsweredByWhoMay(t *testing.T) {
	t.Parallel()
	discord := discordHall(t)
	dm := discord.DM(anaAtDiscord)
	discord.Write(anaAtDiscord, dm, "", "echo it ran # marked")
	shown := discord.Await(discordtest.Channel, atDiscord("is asked for", "echo it ran # marked"))
	for who, want := range map[string]string{anaAtDiscord: "ana asked for it; ask ben",
		eveAtDiscord: "belongs to no person in people; ask ben"} {
		discord.Click(who, discordtest.Channel, shown[0].ID, "Approve once")
		discord.AwaitTold(who, tells(want))
	}
	discord.Click(benAtDiscord, discordtest.Channel, shown[0].ID, "Approve once")
	discord.AwaitTold(benAtDiscord, tells("You approved"))
	discord.Await(dm, atDiscord("it ran"))
	after := discord.Await(discordtest.Channel, atDiscord("approved by ben"))
	if len(after) != 1 || len(after[0].Buttons) != 0 {
		t.Errorf("shown are %+v", after)
	}
	discord.Write(anaAtDiscord, dm, "", "echo again # marked")
	discord.Await(discordtest.Channel, atDiscord("is asked for", "echo again"))
	second := discord.Shown(discordtest.Channel)[1]
	discord.Click(benAtDiscord, discordtest.Channel, second.ID, "Deny, and say why…", "not on a Monday")
	discord.Await(dm, atDiscord("Denied by ben: not on a Monday"))
}
