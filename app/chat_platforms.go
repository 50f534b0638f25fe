package app

import (
	"fmt"
	"log/slog"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram"
	"github.com/bailiff-dev/bailiff/gateway/chat/webhook"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// platform is an account at a service, as a sidecar needs it.
type platform interface {
	chat.Platform
	chat.Checker
}

// newPlatform makes a service's account, which is not connected yet.
func newPlatform(cfg *config.Config, name string, memory chat.Memory, log *slog.Logger) (platform, error) {
	switch name {
	case "slack":
		return newSlack(cfg.Chat.Slack, log)
	case "discord":
		d := cfg.Chat.Discord
		return discord.New(discord.Config{Token: d.Token.Read, URL: d.URL, Approvals: d.Approvals, Log: log})
	case "telegram":
		return newTelegram(cfg.Chat.Telegram, log)
	case "matrix":
		return newMatrix(cfg.Chat.Matrix, memory, log)
	case "webhook":
		return newWebhook(cfg.Chat.Webhook, log)
	}
	return nil, fmt.Errorf("this version knows no chat service %q", name)
}

func newSlack(c *config.Slack, log *slog.Logger) (platform, error) {
	cfg := slack.Config{BotToken: c.BotToken.Read, Listen: c.Listen, URL: c.URL, Approvals: c.Approvals, Log: log}
	if c.Listen == "" {
		cfg.AppToken = c.AppToken.Read
	} else {
		cfg.SigningSecret = c.SigningSecret.Read
	}
	return slack.New(cfg)
}

func newTelegram(c *config.Telegram, log *slog.Logger) (platform, error) {
	cfg := telegram.Config{Token: c.Token.Read, Approvals: c.Approvals, URL: c.URL, Log: log}
	if w := c.Webhook; w.URL != "" {
		cfg.Webhook = &telegram.Webhook{URL: w.URL, Listen: w.Listen, Secret: w.Secret.Read}
	}
	return telegram.New(cfg)
}

func newMatrix(c *config.Matrix, memory chat.Memory, log *slog.Logger) (platform, error) {
	roots, err := httpapi.Roots(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading ca_file: %w", err)
	}
	return matrix.New(matrix.Config{URL: c.URL, Token: c.Token.Read, Roots: roots, Approvals: c.Approvals,
		Rooms: c.FreeResponseChannels, AllowedUsers: c.AllowedUsers, Memory: memory, Log: log})
}

func newWebhook(c *config.Webhook, log *slog.Logger) (platform, error) {
	roots, err := httpapi.Roots(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading ca_file: %w", err)
	}
	cfg := webhook.Config{URL: c.URL, Roots: roots, Secret: c.Secret.Read, Listen: c.Listen, Log: log}
	if c.Token.IsSet() {
		cfg.Token = c.Token.Read
	}
	return webhook.New(cfg)
}
