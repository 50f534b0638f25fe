package slack

import (
	"context"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

func (s *Slack) Check(ctx context.Context, people []chat.Person) []chat.Finding { return nil }
