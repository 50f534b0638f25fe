package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
)

// ChatFinding is one thing that was looked at; Fault is empty if all is well.
type ChatFinding struct {
	Service string `json:"service"`
	What    string `json:"what"`
	Fault   string `json:"fault"`
}

// checkFor is how long one service is asked.
const checkFor = time.Minute

// CheckChats asks the chat services of a configuration, named as [Config] does, for
// what is missing there.
func CheckChats(ctx context.Context, file string) ([]ChatFinding, error) {
	cfg, err := offline.LoadConfig(file)
	if err != nil {
		return nil, err
	}
	if len(cfg.Chat.Services()) == 0 {
		return nil, errors.New("no chat service is configured; bailiff.yaml has a section for each, such as slack or telegram")
	}
	return checkChats(ctx, cfg), nil
}

func checkChats(ctx context.Context, cfg *config.Config) (all []ChatFinding) {
	for _, name := range cfg.Chat.Services() {
		platform, err := newPlatform(cfg, name, forgetful{}, slog.New(slog.DiscardHandler))
		if err != nil {
			all = append(all, ChatFinding{name, "configuration", err.Error()})
			continue
		}
		for _, f := range checkChat(ctx, platform, peopleAt(cfg, name)) {
			found := ChatFinding{Service: name, What: f.What}
			if f.Err != nil {
				found.Fault = f.Err.Error()
			}
			all = append(all, found)
		}
		if slices.Contains(cfg.Chat.Channels(), name) && len(peopleAt(cfg, name)) == 0 {
			all = append(all, ChatFinding{name, "people",
				"approvals are posted there, and nobody in people has an account there: name one, as in {name: ana, " + name + ": [ID]}"})
		}
	}
	return all
}

func checkChat(ctx context.Context, platform chat.Checker, people []chat.Person) []chat.Finding {
	ctx, cancel := context.WithTimeout(ctx, checkFor)
	defer cancel()
	return platform.Check(ctx, people)
}

// forgetful is the memory of who is not there for long.
type forgetful struct{}

func (forgetful) Recall(string) string          { return "" }
func (forgetful) Remember(string, string) error { return nil }

// peopleAt are those who have an account at a service.
func peopleAt(cfg *config.Config, service string) (all []chat.Person) {
	for _, p := range cfg.People {
		for _, id := range p.Accounts[service] {
			all = append(all, chat.Person{ID: id, Name: p.Name})
		}
	}
	return all
}
