package slack_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack/slacktest"
)

func TestACheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	ana, ben, eve := chat.Person{ID: "U1", Name: "ana"}, chat.Person{ID: "U2", Name: "ben"}, chat.Person{ID: "U3", Name: "eve"}
	without := func(scopes ...string) []string {
		return slices.DeleteFunc(slices.Clone(slacktest.Scopes), func(s string) bool { return slices.Contains(scopes, s) })
	}
	for name, c := range map[string]struct {
		set    func(*slack.Config)
		server func(*slacktest.Server)
		want   map[string]string // what is wrong, by what was looked at
		well   []string
	}{
		"nothing": {well: []string{"app token", "bot token", "scopes", "chat C1", "ana (U1) sees C1", "ben (U2) sees C1"},
			want: map[string]string{"eve (U3) sees C1": "invite them"}},
		"by HTTP": {set: func(c *slack.Config) { c.Listen, c.SigningSecret = "127.0.0.1:0", secret("s") },
			well: []string{"signing secret", "bot token", "scopes", "chat C1", "ana (U1) sees C1", "ben (U2) sees C1"},
			want: map[string]string{"eve (U3) sees C1": "invite them"}},
		"no approvals": {set: func(c *slack.Config) { c.Approvals = "" }, well: []string{"app token", "bot token", "scopes"}},
		"a wrong bot token": {set: func(c *slack.Config) { c.BotToken = secret("xoxb-other") },
			well: []string{"app token"}, want: map[string]string{"bot token": "does not know this token"}},
		"tokens changed for each other": {set: func(c *slack.Config) { c.BotToken, c.AppToken = c.AppToken, c.BotToken },
			want: map[string]string{"app token": "app_token is xapp-", "bot token": "bot_token is xoxb-"}},
		"a token that cannot be read": {set: func(c *slack.Config) {
			c.BotToken = func() (bailiff.Secret, error) { return bailiff.Secret{}, errors.New("there is no file x") }
		}, well: []string{"app token"}, want: map[string]string{"bot token": "there is no file x"}},
		"no secret to sign by": {set: func(c *slack.Config) { c.Listen, c.SigningSecret, c.Approvals = "127.0.0.1:0", secret(""), "" },
			well: []string{"bot token", "scopes"}, want: map[string]string{"signing secret": "it is empty"}},
		"two scopes": {server: func(s *slacktest.Server) { s.Allow(without("files:write", "channels:read")...) },
			well: []string{"app token", "bot token"}, want: map[string]string{"scope files:write": "to attach",
				"scope channels:read": "OAuth & Permissions", "chat C1": "the scope channels:read"}},
		"a channel that is none": {set: func(c *slack.Config) { c.Approvals = "C404" },
			well: []string{"app token", "bot token", "scopes"}, want: map[string]string{"chat C404": "there is no such channel"}},
		"a channel without the bot": {server: func(s *slacktest.Server) { s.Channel("C1", "U1") },
			well: []string{"app token", "bot token", "scopes"}, want: map[string]string{"chat C1": "invite the bot"}},
		"a channel that is archived": {server: func(s *slacktest.Server) { s.Archive("C1") },
			well: []string{"app token", "bot token", "scopes"}, want: map[string]string{"chat C1": "archived"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, server := app(t, func(config *slack.Config) {
				if c.set != nil {
					c.set(config)
				}
			})
			if c.server != nil {
				c.server(server)
			}
			wrong := maps.Clone(c.want)
			var well []string
			for _, f := range s.Check(t.Context(), []chat.Person{ana, ben, eve}) {
				switch want, expected := wrong[f.What]; {
				case f.Err == nil:
					well = append(well, f.What)
				case !expected || !strings.Contains(f.Err.Error(), want):
					t.Errorf("of %s it says %v, want %q", f.What, f.Err, want)
				}
				if f.Err != nil {
					delete(wrong, f.What)
				}
			}
			if !slices.Equal(well, c.well) || len(wrong) > 0 {
				t.Errorf("well are %q, want %q; not found was %v", well, c.well, wrong)
			}
		})
	}
}

func TestTheScopesAreThoseThatAreUsed(t *testing.T) {
	t.Parallel()
	if want, got := slices.Sorted(slices.Values(slacktest.Scopes)), slices.Sorted(maps.Keys(slack.Scopes)); !slices.Equal(got, want) {
		t.Errorf("they are %q, want %q", got, want)
	}
}
