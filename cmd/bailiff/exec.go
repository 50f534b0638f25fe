package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

func newExec(configPath *string) *cobra.Command {
	x := execution{configPath: configPath}
	cmd := &cobra.Command{
		Use:   "exec [flags] -- CMD… | --code FILE",
		Short: "Run one request through the running sidecar",
		Long:  execHelp,
		Example: `  bailiff exec --platform telegram --user 42 -- 'git status'
  bailiff exec --platform telegram --user 42 --code report.py`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if x.endWithParent {
				ctx, cancel := withParent(cmd.Context())
				defer cancel()
				cmd.SetContext(ctx)
			}
			err := x.run(cmd, args)
			var code cli.Status
			if err == nil || errors.As(err, &code) {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: %v\n", err)
			if cmd.Context().Err() != nil {
				return cli.Status(bailiff.ExitInterrupted)
			}
			return cli.Status(bailiff.ExitFailed)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: %v; see \"bailiff exec --help\"\n", err)
		return cli.Status(bailiff.ExitFailed)
	})
	x.who.Register(cmd)
	x.by.Register(cmd)
	cmd.Flags().StringVar(&x.who.RequestID, "request-id", "", "an `id` under which this request runs at most once")
	cmd.Flags().IntVar(&x.who.Wait, "wait", gateway.UsualWait, "how many `seconds` to wait for an approval, if one is due")
	cmd.Flags().StringVar(&x.breakGlass, "break-glass", "", "run it against the policies, for this `reason`")
	cmd.Flags().BoolVar(&x.endWithParent, "end-with-parent", false, "stop the command when the program that started this one, by a "+
		"shell or not, is gone")
	cli.OutputFlag(cmd, &x.format)
	return cmd
}

const execHelp = `Sends one request to the running sidecar and prints the command's output as it
comes. One argument after -- is shell text; several are the words of a command.
Interrupting it (Ctrl-C) stops the command and everything it has started, and says
how that ended.

Where a person must approve, it says so on standard error and waits, as long as
--wait says. The same request again runs once it is approved.

A command begins where the session's last one ended, a session's first in its
workspace: not in the folder where you stand, unless --workdir names it.

With --background the command goes on by itself, and the id of its process is
printed; the session's process tool shows its output, writes to it and ends it.

With --listen it asks the sidecar at that address, and reads no configuration.

--break-glass runs what the policies deny, by the operators' socket, without
variables and in a sandbox of its own; operator.break_glass must allow it, and
the decision log, the metrics and the sidecar's log tell of it.

Exit status: the command's own; 126 denied or expired; 75 an approval is still
pending; 124 timeout; 130 interrupted; 125 the sidecar or the backend failed.`

// execution is "bailiff exec" as its flags order it.
type execution struct {
	configPath *string
	who        cli.Claim
	by         cli.AgentAddress
	format     string
	breakGlass string // why the request runs against the policies
	// endWithParent stops it with the program that asked for it.
	endWithParent bool
}

func (x *execution) run(cmd *cobra.Command, args []string) error {
	if x.format != "table" && x.format != "json" {
		return fmt.Errorf("--output is %q, want table or json", x.format)
	}
	req, err := x.who.Request(args)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("break-glass") {
		return x.runAgainstPolicies(cmd, req)
	}
	operator, err := x.by.Open(*x.configPath, req.Session.Platform)
	if err != nil {
		return err
	}
	news := printing(cmd.OutOrStdout(), x.format)
	news.Approval = promptApproval(cmd.ErrOrStderr())
	news.Step = func(step string) { fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: %s\n", termsafe.Text(step)) }
	news.Stop = cmd.Context().Done()
	ctx := gateway.WithTraceparent(context.WithoutCancel(cmd.Context()), os.Getenv("TRACEPARENT"))
	answer, err := operator.Execute(ctx, req, news)
	if err != nil {
		return err
	}
	err = conclude(cmd, x.format, answer)
	x.tellElsewhere(cmd, req, answer)
	if cmd.Context().Err() != nil && answer.Status == bailiff.ApprovalRequired {
		fmt.Fprintln(cmd.ErrOrStderr(), "bailiff: interrupted while it waited for approval; it has not run")
		return cli.Status(bailiff.ExitInterrupted)
	}
	return err
}

// tellElsewhere says to who stands in a folder that the sandbox shows that the command did not begin there.
func (x *execution) tellElsewhere(cmd *cobra.Command, req bailiff.Request, a api.Answer) {
	folder, err := os.Getwd()
	if err != nil || x.format == "json" || a.Status != bailiff.Completed || req.Tool != bailiff.Terminal || req.Args.Workdir != "" ||
		!shows(a.Decision.Backend.Mounts, folder) {
		return
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: it began where the session's last command ended; to begin here: --workdir %s\n",
		termsafe.Text(shellquote.Quote(folder)))
}

// runAgainstPolicies runs a request against the policies, by the operators' socket.
func (x *execution) runAgainstPolicies(cmd *cobra.Command, req bailiff.Request) error {
	if x.by != (cli.AgentAddress{}) {
		return errors.New("--break-glass goes by the operators' socket, which --listen does not name")
	}
	operator, err := cli.SocketClient(cmd.ErrOrStderr(), *x.configPath)
	if err != nil {
		return err
	}
	answer, err := operator.BreakGlass(cmd.Context(), req, x.breakGlass)
	if cli.HasCode(err, "not_found") {
		return errors.New("operator.break_glass is not true in bailiff.yaml, by which the sidecar runs")
	}
	if err != nil {
		return err
	}
	if output, err := answer.Bytes(); err == nil && x.format != "json" {
		_, _ = cmd.OutOrStdout().Write(output)
	}
	return conclude(cmd, x.format, answer)
}

// printing writes output as it comes; JSON waits for the whole answer.
func printing(w io.Writer, format string) client.News {
	if format == "json" {
		return client.News{}
	}
	return client.News{Output: func(piece []byte) { _, _ = w.Write(piece) }}
}

// promptApproval tells the user who may answer, and how.
func promptApproval(w io.Writer) func(api.Approval) {
	return func(a api.Approval) {
		if a.State != bailiff.ApprovalPending {
			return
		}
		page := ""
		if a.URL != "" {
			page = ", or at " + termsafe.Text(a.URL)
		}
		fmt.Fprintf(w, "bailiff: waiting for approval %s. %s They answer by \"bailiff approvals approve %[1]s\" or deny%[3]s\n",
			termsafe.Text(a.ID), termsafe.Text(a.Message), page)
	}
}

// conclude tells how the request ended, by message and exit status.
func conclude(cmd *cobra.Command, format string, a api.Answer) error {
	if format == "json" {
		if err := cli.Show(cmd, format, a, nil); err != nil {
			return err
		}
	} else if a.Message != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: %s\n", termsafe.Text(a.Message))
	}
	if format != "json" && a.Status == bailiff.Completed {
		for _, line := range a.Decision.WithheldBy(a.ExitCode != 0) {
			fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: %s\n", termsafe.Text(line))
		}
	}
	if format != "json" && a.ProcessID != "" {
		fmt.Fprintln(cmd.OutOrStdout(), a.ProcessID)
	}
	if code := exitOf(a); code != 0 {
		return cli.Status(code)
	}
	return nil
}

func exitOf(a api.Answer) int {
	switch a.Status {
	case bailiff.Completed:
		return a.ExitCode
	case bailiff.Refused, bailiff.Expired:
		return bailiff.ExitRefused
	case bailiff.ApprovalRequired:
		return bailiff.ExitPending
	case bailiff.TimedOut:
		return bailiff.ExitTimeout
	case bailiff.Interrupted:
		return bailiff.ExitInterrupted
	}
	return bailiff.ExitFailed
}
