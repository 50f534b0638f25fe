package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/audit"
)

func newAudit(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read and verify the decision log",
		Long: `Reads the decision log in the state folder, whether or not a sidecar is running.

Exit status: see the subcommands.`,
	}
	cmd.AddCommand(newAuditTail(configPath), newAuditVerify(configPath))
	namingOne(cmd)
	return cmd
}

func newAuditTail(configPath *string) *cobra.Command {
	var format string
	var lines int
	var follow bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print the last events",
		Long: `Prints the last events of the decision log, and with --follow those that come.
"--output json" prints the lines as they are on disk.

Exit status: 0, or 1 if the log cannot be read.`,
		Example: "  bailiff audit tail -n 50 --follow",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(*configPath)
			if err != nil {
				return err
			}
			if format != "table" && format != "json" {
				return fmt.Errorf("--output is %q, want table or json", format)
			}
			return audit.Tail(cmd.Context(), cfg.StateDir, lines, follow, func(line []byte) error {
				return printEvent(cmd.OutOrStdout(), format, line)
			})
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "how many of the last events")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with those that come")
	outputFlag(cmd, &format)
	return cmd
}

// logged is what a line of the table shows of an event.
type logged struct {
	Timestamp string `json:"timestamp"`
	Input     struct {
		Tool    string `json:"tool"`
		Args    bailiff.Asked
		Session struct{ Platform string }
	} `json:"input"`
	Result struct {
		Outcome string `json:"outcome"`
		Denials []struct{ Rule string }
	} `json:"result"`
	Custom struct {
		Event, Status, Session, Backend, Message string
		ExitCode                                 *int                `json:"exit_code"`
		BreakGlass                               *bailiff.BreakGlass `json:"break_glass"`
	} `json:"custom"`
}

func printEvent(w io.Writer, format string, line []byte) error {
	if format == "json" {
		_, err := fmt.Fprintf(w, "%s\n", line)
		return err
	}
	var e logged
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	_, err := fmt.Fprintf(w, "%-30s  %-9s  %-24s  %s\n", e.Timestamp, e.Custom.Event, visible(e.Custom.Session), visible(e.about()))
	return err
}

// about says the rest of an event in one line, before it who broke the glass and why.
func (e logged) about() string {
	if g := e.Custom.BreakGlass; g != nil {
		return fmt.Sprintf("%s broke the glass: %q  %s", g.By, g.Reason, e.happened())
	}
	return e.happened()
}

func (e logged) happened() string {
	switch e.Custom.Event {
	case "decision":
		rules := ""
		for _, d := range e.Result.Denials {
			rules += " " + d.Rule
		}
		return fmt.Sprintf("%s%s  %s %.100q", e.Result.Outcome, rules, e.Input.Tool, e.Input.Args.Text())
	case "execution":
		code := ""
		if e.Custom.ExitCode != nil {
			code = fmt.Sprint(" ", *e.Custom.ExitCode)
		}
		return strings.TrimSpace(fmt.Sprintf("%s%s in %s  %s", e.Custom.Status, code, e.Custom.Backend, e.Custom.Message))
	}
	return strings.TrimSpace(e.Custom.Backend + " " + e.Custom.Message)
}

func newAuditVerify(configPath *string) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find lines that were edited, removed, reordered or cut off",
		Long: `Checks every line of the decision log against its chain of hashes and against
the count that is kept outside the log's folder.

Exit status: 0 if the log is whole, 2 if it was tampered with, 1 if it cannot be read.`,
		Example: "  bailiff audit verify --output json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(*configPath)
			if err != nil {
				return err
			}
			report, fault := audit.Verify(cfg.StateDir)
			if fault != nil && len(report.Faults) == 0 {
				return fault
			}
			if err := show(cmd, format, report, func(w io.Writer) { printVerification(w, report) }); err != nil {
				return err
			}
			if fault != nil {
				return status(2)
			}
			return nil
		},
	}
	outputFlag(cmd, &format)
	return cmd
}

func printVerification(w io.Writer, report audit.Report) {
	for _, f := range report.Faults {
		fmt.Fprintf(w, "%s:%d\t%s\n", f.File, f.Line, f.Problem)
	}
	if len(report.Faults) == 0 {
		fmt.Fprintf(w, "%d lines in %d segments are as they were written\n", report.Lines, report.Segments)
	}
}
