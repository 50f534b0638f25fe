// Package discord is bailiff's bot at Discord.
//
// What is said, clicked and chosen comes by Discord's gateway, a WebSocket; what is shown
// goes by its HTTP API. A message's buttons have their token as custom_id. A button that
// asks has its question there too, so that a form can still be shown for what was posted
// before a restart. A person who clicked, or chose a command, is answered within Discord's three
// seconds and alone: what takes longer is told afterwards.
//
// What is promised:
//   - Text shows as it is: what would be markup, a link, a mention, an emoji or a
//     timestamp is escaped, no mention notifies a person, and nothing is unfurled.
//   - What is posted twice under one key within some minutes is shown once: Discord's
//     nonce. A post that is sent again much later is shown a second time.
//   - A connection that breaks is resumed where it was, and Discord tells again what was
//     missed. One that is silent is noticed at the second heartbeat.
//   - Only [chat.Refused] ends Run: a token that Discord does not know, an intent that it
//     does not give.
//
// Discord's API is discordgo's. Four parts of that library are not used. Its addresses
// are variables of the process, and its limiter sleeps where nothing can wake it and lets
// one request to a channel wait for another: each request here has an address and a
// limiter of its own. Discord's answer 429 is handed on as [chat.Busy], and so is, without
// asking, what would be asked sooner. Its gateway ends the process at an event that is
// null, ends its sessions by the code after which Discord resumes none, and takes five
// heartbeats to notice that the connection is lost. And its events are read whole, so that a
// message would be lost for what another bot says in the message that it replies to.
//
// Not here: which messages are for bailiff, and when a thread is made (gateway/chat).
package discord

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/config/required"
)

// Config is what the bot needs.
type Config struct {
	// Token is the bot's. It is read at each use, so that it can be renewed.
	Token func() (bailiff.Secret, error)
	// URL is the API's address; empty is Discord's own.
	URL string
	// Approvals is the channel that Check looks at; empty is none.
	Approvals string
	// Log gets problems that cannot be shown at Discord.
	Log *slog.Logger
}

// official is where Discord's API is.
const official = "https://discord.com/api/v10"

// Discord is bailiff's bot.
type Discord struct {
	cfg  Config
	http *http.Client
	gate rateLimiter
	// second is how long one is where something is tried again.
	second time.Duration
	// replyAfter is how long an interaction may take before it is acknowledged.
	replyAfter time.Duration
}

var (
	_ chat.Platform = (*Discord)(nil)
	_ chat.Checker  = (*Discord)(nil)
)

// New makes a bot, without a call to Discord.
func New(cfg Config) (*Discord, error) {
	if err := required.Fields("discord", map[string]bool{"Token": cfg.Token == nil, "Log": cfg.Log == nil}); err != nil {
		return nil, err
	}
	if cfg.URL == "" {
		cfg.URL = official
	}
	cfg.URL = strings.TrimSuffix(cfg.URL, "/")
	return &Discord{cfg: cfg, http: client(), second: time.Second, replyAfter: 1500 * time.Millisecond}, nil
}

// sleep waits, and says whether ctx still lasts.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
