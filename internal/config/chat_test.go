package config

import (
	"slices"
	"strings"
	"testing"
)

const discordBot = `discord: {token: {env: T}, approvals: "1", allowed_users: ["77"], auto_thread: false, ` +
	`require_mention: false, free_response_channels: ["3"]}`

func TestOfAChatServiceDefaultsAreThoseThatDisturbLeast(t *testing.T) {
	t.Parallel()
	c, err := parse("bailiff.yaml", `discord: {token: {env: T}, approvals: "1"}`)
	must(t, err)
	d := c.Chat.Discord
	if !d.AutoThread || !d.RequireMention || len(d.AllowedUsers)+len(d.FreeResponseChannels)+len(d.Env) > 0 {
		t.Errorf("they are %+v", d)
	}
	if c.Chat.Slack != nil || !slices.Equal(c.Channels(), []string{"operator", "discord"}) {
		t.Errorf("channels are %q", c.Channels())
	}
}

func TestVariablesWinOverWhatTheFileSaysOfAChatService(t *testing.T) {
	t.Setenv("DISCORD_AUTO_THREAD", "true")
	t.Setenv("DISCORD_REQUIRE_MENTION", "Yes")
	t.Setenv("DISCORD_FREE_RESPONSE_CHANNELS", "4, 5")
	t.Setenv("DISCORD_ALLOWED_USERS", "78,79")
	c, err := parse("bailiff.yaml", discordBot)
	must(t, err)
	d := c.Chat.Discord
	if !d.AutoThread || !d.RequireMention || !slices.Equal(d.FreeResponseChannels, []string{"4", "5"}) ||
		!slices.Equal(d.AllowedUsers, []string{"78", "79"}) {
		t.Errorf("it is %+v", d)
	}
}

func TestAVariableThatIsNoSwitchIsRefused(t *testing.T) {
	t.Setenv("DISCORD_REQUIRE_MENTION", "perhaps")
	_, err := parse("bailiff.yaml", discordBot)
	if err == nil || !strings.Contains(err.Error(),
		`variable DISCORD_REQUIRE_MENTION, which wins over discord.require_mention, is "perhaps", want true or false`) {
		t.Errorf("it says %v", err)
	}
}

func TestVariablesOfAChatServiceThatIsNotConfiguredSayNothing(t *testing.T) {
	t.Setenv("SLACK_REQUIRE_MENTION", "perhaps")
	if _, err := parse("bailiff.yaml", discordBot); err != nil {
		t.Error(err)
	}
}
