package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/termsafe"
)

func newChat(configPath *string) *cobra.Command {
	cmd := &cobra.Command{Use: "chat", Short: "Look at the chat services"}
	namingOne(cmd)
	cmd.AddCommand(newChatCheck(configPath))
	return cmd
}

func newChatCheck(configPath *string) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Prove that the chat services can be used, and name what is missing",
		Long: `Asks each chat service of the configuration whether its token is valid, whether
the account has the permissions that it needs where approvals are posted, and whether
the people who have an account there can see them. It posts nothing, needs no running
sidecar, and must be run as the sidecar's user, with its variables.

Exit status: 0 if all is well, 1 if anything is missing, or no service is configured.`,
		Example: "  bailiff chat check",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(*configPath)
			if err != nil {
				return err
			}
			if len(cfg.Chat.Services()) == 0 {
				return errors.New("no chat service is configured; bailiff.yaml has a section for each, such as slack or telegram")
			}
			findings := checkChats(cmd.Context(), cfg)
			if err := show(cmd, format, findings, func(w io.Writer) { printFindings(w, findings) }); err != nil {
				return err
			}
			return missing(findings)
		},
	}
	outputFlag(cmd, &format)
	return cmd
}

// chatFinding is one thing that was looked at; Fault is empty if all is well.
type chatFinding struct {
	Service string `json:"service"`
	What    string `json:"what"`
	Fault   string `json:"fault"`
}

// checkFor is how long one service is asked.
const checkFor = time.Minute

func checkChats(ctx context.Context, cfg *config.Config) (all []chatFinding) {
	for _, name := range cfg.Chat.Services() {
		platform, err := newPlatform(cfg, name, forgetful{}, slog.New(slog.DiscardHandler))
		if err != nil {
			all = append(all, chatFinding{name, "configuration", err.Error()})
			continue
		}
		for _, f := range checkChat(ctx, platform, peopleAt(cfg, name)) {
			found := chatFinding{Service: name, What: f.What}
			if f.Err != nil {
				found.Fault = f.Err.Error()
			}
			all = append(all, found)
		}
		if slices.Contains(cfg.Chat.Channels(), name) && len(peopleAt(cfg, name)) == 0 {
			all = append(all, chatFinding{name, "people", "approvals are posted there, and nobody in people has an account there: name one, as in {name: ana, " + name + ": [ID]}"})
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

func printFindings(w io.Writer, findings []chatFinding) {
	for _, f := range findings {
		said := "ok"
		if f.Fault != "" {
			said = termsafe.Text(f.Fault)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Service, termsafe.Text(f.What), said)
	}
}

// missing is the error that names how much is.
func missing(findings []chatFinding) error {
	n := 0
	for _, f := range findings {
		if f.Fault != "" {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s missing at the chat services", map[bool]string{true: "one thing is", false: fmt.Sprintf("%d things are", n)}[n == 1])
}
