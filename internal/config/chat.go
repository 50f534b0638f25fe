package config

import (
	"errors"
	"maps"
	"regexp"
	"slices"

	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Chat are the accounts of bailiff's own at chat services; nil where it has none.
type Chat struct {
	Slack    *Slack
	Discord  *Discord
	Telegram *Telegram
	Matrix   *Matrix
	Webhook  *Webhook
}

// Commands say where approvals are posted at a service, and who may give commands there.
type Commands struct {
	// Approvals is the id of the chat in which approvals are posted; empty posts none.
	Approvals string
	// AllowedUsers are the ids of those who may give commands, "*" is every person, and
	// none is no person.
	AllowedUsers []string
	// RequireMention says that outside of direct messages, and of threads in which
	// bailiff took part, a message is for bailiff only if it names it.
	RequireMention bool
	// FreeResponseChannels are the ids of chats where it need not.
	FreeResponseChannels []string
	// Env are the names of the variables that every command asks for.
	Env []string
}

// settings are the keys; users is what people's ids look like at the service.
func (c *Commands) settings(users *regexp.Regexp, as string) []settings.Setting {
	isUser := func(id string) error {
		if id != "*" && !users.MatchString(id) {
			return errors.New("want a user's id, as in " + as + `, or "*"`)
		}
		return nil
	}
	return []settings.Setting{
		{Key: "approvals", Into: &c.Approvals},
		{Key: "allowed_users", Into: &c.AllowedUsers, Check: isUser},
		{Key: "require_mention", Into: &c.RequireMention},
		{Key: "free_response_channels", Into: &c.FreeResponseChannels},
		{Key: "env", Into: &c.Env, Check: isVariable},
	}
}

// What people's ids look like at the services. Discord's and Telegram's are numbers.
var (
	slackUser  = regexp.MustCompile(`^[UW][A-Z0-9]+$`)
	numbered   = regexp.MustCompile(`^[0-9]+$`)
	matrixUser = regexp.MustCompile(`^@[^:]*:.+$`)
)

// Slack is an app of Slack's. It comes by Socket Mode, or by HTTP if Listen is set.
type Slack struct {
	Commands
	BotToken settings.Credential
	// AppToken is for Socket Mode, SigningSecret for HTTP.
	AppToken, SigningSecret settings.Credential
	// Listen is the host:port where Slack's requests come in.
	Listen string
	// URL is the API's address.
	URL string
}

// Settings are the keys of slack.
func (s *Slack) Settings() []settings.Setting {
	return append(s.settings(slackUser, "U07A"),
		settings.Setting{Key: "bot_token", Into: &s.BotToken},
		settings.Setting{Key: "app_token", Into: &s.AppToken},
		settings.Setting{Key: "signing_secret", Into: &s.SigningSecret},
		settings.Setting{Key: "listen", Into: &s.Listen, Check: isListen},
		settings.Setting{Key: "url", Into: &s.URL, Check: httpapi.CheckAddress},
	)
}

// Discord is a bot of Discord's.
type Discord struct {
	Commands
	Token settings.Credential
	// AutoThread says that a thread is made of a message in a server's channel that names
	// the bot.
	AutoThread bool
	// URL is the API's address.
	URL string
}

// Settings are the keys of discord.
func (d *Discord) Settings() []settings.Setting {
	return append(d.settings(numbered, "1180000000000000042"),
		settings.Setting{Key: "token", Into: &d.Token},
		settings.Setting{Key: "auto_thread", Into: &d.AutoThread},
		settings.Setting{Key: "url", Into: &d.URL, Check: httpapi.CheckAddress},
	)
}

// Telegram is a bot of Telegram's. It asks for what is new, or is told if Webhook says
// where.
type Telegram struct {
	Commands
	Token   settings.Credential
	Webhook TelegramWebhook
	// URL is the Bot API's address.
	URL string
}

// TelegramWebhook says where Telegram tells what is new; no URL means that it does not.
type TelegramWebhook struct {
	// URL is the address that Telegram calls, Listen the host:port where that comes in.
	URL, Listen string
	// Secret is what Telegram sends along.
	Secret settings.Credential
}

// Settings are the keys of telegram.
func (t *Telegram) Settings() []settings.Setting {
	return append(t.settings(numbered, "42"),
		settings.Setting{Key: "token", Into: &t.Token},
		settings.Setting{Key: "webhook", Into: []settings.Setting{
			{Key: "url", Into: &t.Webhook.URL, Check: httpapi.CheckAddress},
			{Key: "listen", Into: &t.Webhook.Listen, Check: isListen},
			{Key: "secret", Into: &t.Webhook.Secret},
		}},
		settings.Setting{Key: "url", Into: &t.URL, Check: httpapi.CheckAddress},
	)
}

// Matrix is an account at a homeserver.
type Matrix struct {
	Commands
	// Server is the homeserver; its token is the account's access token.
	httpapi.Server
}

// Settings are the keys of matrix.
func (m *Matrix) Settings() []settings.Setting {
	return append(m.settings(matrixUser, "@ana:example.com"), m.Server.Settings()...)
}

// Webhook is any other service: what is posted is sent to it, and answers come back.
type Webhook struct {
	// Server is sent what is posted.
	httpapi.Server
	// Secret is what both sides sign by.
	Secret settings.Credential
	// Listen is the host:port where answers come in.
	Listen string
}

// Settings are the keys of webhook.
func (w *Webhook) Settings() []settings.Setting {
	return append(w.Server.Settings(),
		settings.Setting{Key: "secret", Into: &w.Secret},
		settings.Setting{Key: "listen", Into: &w.Listen, Check: isListen},
	)
}

// section is one service's.
type section interface{ Settings() []settings.Setting }

// sections are those of the services that are configured, by their names.
func (c *Chat) sections() map[string]section {
	all := map[string]section{}
	if c.Slack != nil {
		all["slack"] = c.Slack
	}
	if c.Discord != nil {
		all["discord"] = c.Discord
	}
	if c.Telegram != nil {
		all["telegram"] = c.Telegram
	}
	if c.Matrix != nil {
		all["matrix"] = c.Matrix
	}
	if c.Webhook != nil {
		all["webhook"] = c.Webhook
	}
	return all
}

// Channels are the channels of approvals that the services are, by their names, sorted.
func (c *Chat) Channels() []string {
	return slices.DeleteFunc(c.Services(), func(name string) bool {
		commands := c.Commands(name)
		return commands != nil && commands.Approvals == ""
	})
}

// Services are the names of the services, sorted.
func (c *Chat) Services() []string { return slices.Sorted(maps.Keys(c.sections())) }

// Commands are those of a service, nil if it takes none.
func (c *Chat) Commands(name string) *Commands {
	if s, takes := c.sections()[name].(interface{ commands() *Commands }); takes {
		return s.commands()
	}
	return nil
}

func (c *Commands) commands() *Commands { return c }
