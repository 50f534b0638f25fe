package config

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

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
	case !s.BotToken.IsSet():
		return "bot_token is missing: it is the app's \"Bot User OAuth Token\" (xoxb-…)"
	case s.Listen == "" && !s.AppToken.IsSet():
		return "app_token is missing: Socket Mode needs an app-level token (xapp-…); or say listen and signing_secret to be called by " +
			"HTTP"
	case s.Listen != "" && !s.SigningSecret.IsSet():
		return "signing_secret is missing: by HTTP only Slack's signature tells who is calling"
	case s.Listen != "" && s.AppToken.IsSet():
		return "app_token is for Socket Mode and listen for HTTP, want one of them"
	}
	return ""
}

func (d *Discord) lacks() string {
	if !d.Token.IsSet() {
		return "token is missing: it is the bot's, from the page Bot of the application"
	}
	return ""
}

func (t *Telegram) lacks() string {
	w := t.Webhook
	switch {
	case !t.Token.IsSet():
		return "token is missing: it is the bot's, as BotFather gave it"
	case w.URL == "" && (w.Listen != "" || w.Secret.IsSet()):
		return "webhook.url is missing: it is the address that Telegram calls"
	case w.URL != "" && w.Listen == "":
		return "webhook.listen is missing: it is the host:port where Telegram's calls come in"
	case w.URL != "" && !w.Secret.IsSet():
		return "webhook.secret is missing: only what Telegram sends along tells that it is calling"
	}
	return ""
}

func (m *Matrix) lacks() string {
	switch {
	case m.URL == "":
		return "url is missing: it is the homeserver's, as in https://matrix.example.com"
	case !m.Token.IsSet():
		return "token is missing: it is the account's access token"
	}
	return ""
}

func (w *Webhook) lacks() string {
	switch {
	case w.URL == "":
		return "url is missing: it is where approvals are sent"
	case !w.Secret.IsSet():
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
