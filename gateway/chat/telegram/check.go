package telegram

import (
	"context"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// Check looks whether the bot can do what it must.
func (t *Telegram) Check(context.Context, []chat.Person) []chat.Finding { return nil }
