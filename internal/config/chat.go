package config

import (
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/httpapi"
	"github.com/bailiff-dev/bailiff/internal/settings"
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
	// AllowedUsers are the ids of those who may give commands, "*" is everybody, and
	// none is nobody.
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

// configured are the sections that there are, by their names.
func (c *Chat) configured() map[string]section {
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
	var all []string
	for name := range c.configured() {
		if commands := c.Commands(name); commands == nil || commands.Approvals != "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// Services are the names of the services, sorted.
func (c *Chat) Services() []string { return slices.Sorted(maps.Keys(c.configured())) }

// Commands are those of a service, nil if it takes none.
func (c *Chat) Commands(name string) *Commands {
	switch {
	case name == "slack" && c.Slack != nil:
		return &c.Slack.Commands
	case name == "discord" && c.Discord != nil:
		return &c.Discord.Commands
	case name == "telegram" && c.Telegram != nil:
		return &c.Telegram.Commands
	case name == "matrix" && c.Matrix != nil:
		return &c.Matrix.Commands
	}
	return nil
}

// chatSections are what reads the services' sections.
func (r *reader) chatSections(c *Chat) fields {
	mention := Commands{RequireMention: true}
	return fields{
		"slack": func(at place) {
			c.Slack = &Slack{Commands: mention}
			r.service(at, c.Slack, &c.Slack.Commands, nil, c.Slack.lacks)
		},
		"discord": func(at place) {
			c.Discord = &Discord{Commands: mention, AutoThread: true}
			r.service(at, c.Discord, &c.Discord.Commands, &c.Discord.AutoThread, c.Discord.lacks)
		},
		"telegram": func(at place) {
			c.Telegram = &Telegram{Commands: mention}
			r.service(at, c.Telegram, &c.Telegram.Commands, nil, c.Telegram.lacks)
		},
		"matrix": func(at place) {
			c.Matrix = &Matrix{Commands: mention}
			r.service(at, c.Matrix, &c.Matrix.Commands, nil, c.Matrix.lacks)
		},
		"webhook": func(at place) {
			c.Webhook = &Webhook{}
			r.service(at, c.Webhook, nil, nil, c.Webhook.lacks)
		},
	}
}

// service reads one section, and what variables say of the same in its place.
func (r *reader) service(at place, s section, c *Commands, autoThread *bool, lacks func() string) {
	before := len(r.faults)
	r.settings(s.Settings(), at)
	if c != nil {
		r.variables(at, c, autoThread)
	}
	if why := lacks(); why != "" && len(r.faults) == before {
		r.fault(at, "%s", why)
	}
	r.whole = append(r.whole, func() {
		if len(r.faults) == before && c != nil && c.Approvals == "" && len(c.AllowedUsers) == 0 {
			r.fault(at, "is of no use: say in approvals where approvals are posted, in allowed_users who may give commands, or both")
		}
	})
}

// variables of the sidecar's own, such as DISCORD_REQUIRE_MENTION, win over the file.
func (r *reader) variables(at place, c *Commands, autoThread *bool) {
	lists := map[string]*[]string{"allowed_users": &c.AllowedUsers, "free_response_channels": &c.FreeResponseChannels}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		if text, given := os.LookupEnv(variableOf(at.key, key)); given {
			*lists[key] = strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
		}
	}
	switches := map[string]*bool{"require_mention": &c.RequireMention}
	if autoThread != nil {
		switches["auto_thread"] = autoThread
	}
	for _, key := range slices.Sorted(maps.Keys(switches)) {
		text, given := os.LookupEnv(variableOf(at.key, key))
		if !given {
			continue
		}
		on, known := words[strings.ToLower(text)]
		if !known {
			r.fault(at, "variable %s, which wins over %s, is %q, want true or false", variableOf(at.key, key), under(at.key, key), text)
		}
		*switches[key] = on
	}
}

// words are those that variables have for yes and no.
var words = map[string]bool{"true": true, "1": true, "yes": true, "on": true, "false": false, "0": false, "no": false, "off": false}

// variableOf is the variable that wins over a key.
func variableOf(section, key string) string { return strings.ToUpper(section + "_" + key) }

func (s *Slack) lacks() string {
	switch {
	case !s.BotToken.Given():
		return "bot_token is missing: it is the app's \"Bot User OAuth Token\" (xoxb-…)"
	case s.Listen == "" && !s.AppToken.Given():
		return "app_token is missing: Socket Mode needs an app-level token (xapp-…); or say listen and signing_secret to be called by HTTP"
	case s.Listen != "" && !s.SigningSecret.Given():
		return "signing_secret is missing: by HTTP only Slack's signature tells who is calling"
	case s.Listen != "" && s.AppToken.Given():
		return "app_token is for Socket Mode and listen for HTTP, want one of them"
	}
	return ""
}

func (d *Discord) lacks() string {
	if !d.Token.Given() {
		return "token is missing: it is the bot's, from the page Bot of the application"
	}
	return ""
}

func (t *Telegram) lacks() string {
	w := t.Webhook
	switch {
	case !t.Token.Given():
		return "token is missing: it is the bot's, as BotFather gave it"
	case w.URL == "" && (w.Listen != "" || w.Secret.Given()):
		return "webhook.url is missing: it is the address that Telegram calls"
	case w.URL != "" && w.Listen == "":
		return "webhook.listen is missing: it is the host:port where Telegram's calls come in"
	case w.URL != "" && !w.Secret.Given():
		return "webhook.secret is missing: only what Telegram sends along tells that it is calling"
	}
	return ""
}

func (m *Matrix) lacks() string {
	switch {
	case m.URL == "":
		return "url is missing: it is the homeserver's, as in https://matrix.example.com"
	case !m.Token.Given():
		return "token is missing: it is the account's access token"
	}
	return ""
}

func (w *Webhook) lacks() string {
	switch {
	case w.URL == "":
		return "url is missing: it is where approvals are sent"
	case !w.Secret.Given():
		return "secret is missing: both sides sign by it"
	case w.Listen == "":
		return "listen is missing: it is the host:port where answers come in"
	}
	return ""
}

func isVariable(name string) error {
	if !bailiff.IsVariable(name) || len(name) > longestID {
		return errors.New("want a variable's name (letters, digits and _, no digit first)")
	}
	return nil
}

func isListen(address string) error {
	if !isHostPort(address) {
		return errors.New("want host:port, as in 127.0.0.1:8643")
	}
	return nil
}
