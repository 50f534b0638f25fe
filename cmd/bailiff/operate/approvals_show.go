package operate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/gateway/summary"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

func newApprovalsShow(configPath *string) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show one whole: the text with its risky parts marked, and why it is asked",
		Long: `Shows an approval whole: who asks, the command or code with the parts that rules
found marked (inverse on a terminal, else [[so]]), the reasons, where and with which
variables it would run, what the text does, the answers so far, and what the
session did of late. What a terminal would not show as it is, such as escapes and
characters that change the direction, is written out.

Exit status: 0, or 1 if there is none of that id.`,
		Example: "  bailiff approvals show a-7k2",
		Args:    cli.OneID("approval"),
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, args []string) error {
			id, err := approvalID(cmd.Context(), operator, args[0])
			if err != nil {
				return err
			}
			shown, err := operator.Approval(cmd.Context(), id)
			if err != nil {
				return err
			}
			if format != "table" {
				return cli.Show(cmd, format, shown, nil)
			}
			return printApproval(cmd.OutOrStdout(), shown, markerFor(cmd.OutOrStdout()))
		}),
	}
	cli.OutputFlag(cmd, &format)
	return cmd
}

// marker is what stands around a marked part.
type marker struct{ begin, end string }

var (
	inverse  = marker{"\x1b[1;7m", "\x1b[0m"}
	brackets = marker{"[[", "]]"}
)

func markerFor(w io.Writer) marker {
	file, ok := w.(*os.File)
	if ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" { //nolint:gosec // a descriptor fits
		return inverse
	}
	return brackets
}

// text is a text as a terminal may get it, line by line, with its marks.
func (m marker) text(text string, marks []api.Mark) (lines []string) {
	var line strings.Builder
	piece := func(part string, marked bool) {
		if marked && part != "" {
			line.WriteString(m.begin + termsafe.Text(part) + m.end)
		} else {
			line.WriteString(termsafe.Text(part))
		}
	}
	write := func(part string, marked bool) {
		for {
			first, rest, more := strings.Cut(part, "\n")
			piece(first, marked)
			if !more {
				return
			}
			lines = append(lines, line.String())
			line.Reset()
			part = rest
		}
	}
	at := 0
	for _, mark := range marks {
		if mark.Start < at || mark.End < mark.Start || mark.End > len(text) {
			continue
		}
		write(text[at:mark.Start], false)
		write(text[mark.Start:mark.End], true)
		at = mark.End
	}
	write(text[at:], false)
	return append(lines, line.String())
}

// printApproval prints what an approver must know.
func printApproval(w io.Writer, s api.ShownApproval, m marker) error {
	p := &sheet{}
	e := s.Approval
	p.line("approval", e.ID)
	p.line("state", string(e.State)+remaining(e))
	p.line("", termsafe.Text(e.Message))
	p.held(e, time.Now())
	p.line("who asks", termsafe.Text(fmt.Sprintf("%s, as %s", summary.Asker(e, ""), e.Peer)))
	p.line("session", termsafe.Text(e.Request.Session.ID))
	p.line("tool", termsafe.Text(summary.Tool(e.Request)))
	for _, t := range summary.Texts(e.Request.Args, s.Marks) {
		p.line(t.Name, "")
		for _, line := range m.text(t.Text, t.Marks) {
			p.raw("  | " + line)
		}
	}
	if s.MarksCut {
		p.line("marks", "there are more than are made; what is not marked may be risky too")
	}
	for _, r := range e.Reasons {
		p.line("because", termsafe.Text(r.Rule+": "+r.Message)+matched(r))
		if r.Instead != "" {
			p.line("instead", termsafe.Text(r.Instead))
		}
	}
	for _, a := range e.Answered {
		p.line("same asked", fmt.Sprintf("%s said yes %s, no %s", termsafe.Text(a.Person), times(a.Yes), times(a.No)))
	}
	p.terms(e)
	p.facts(e.Input)
	for _, v := range e.Votes {
		p.line("answer", said(v))
	}
	for _, h := range s.History {
		p.line("before", logLine(h))
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// times is how often something was.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// sheet is lines with a name before each.
type sheet struct{ strings.Builder }

func (p *sheet) line(name, value string) {
	p.raw(strings.TrimRight(fmt.Sprintf("%-10s %s", name, value), " "))
}

func (p *sheet) raw(line string) { p.WriteString(line + "\n") }

// list prints values that a request or a policy chose, if there are any.
func (p *sheet) list(name string, values []string) {
	if len(values) > 0 {
		p.line(name, termsafe.Text(strings.Join(values, " ")))
	}
}

// held says that what is asked about runs already, and how long its connection waits.
func (p *sheet) held(e api.Entry, now time.Time) {
	switch left := e.HeldUntil.Sub(now).Round(time.Second); {
	case e.HeldUntil.IsZero() || e.State != bailiff.ApprovalPending:
	case left > 0:
		p.line("connection", fmt.Sprintf("the request runs already; its connection to %s waits for the answer, for %s more",
			termsafe.Text(e.Destination()), left))
	default:
		p.line("connection", fmt.Sprintf("to %s: it was refused for want of an answer; the same request finds a later one",
			termsafe.Text(e.Destination())))
	}
}

// terms are what an approval would let happen.
func (p *sheet) terms(e api.Entry) {
	d := e.Decision
	p.line("runs in", termsafe.Text(summary.Place(d)))
	if folder := e.Request.Args.Workdir; folder != "" {
		p.line("folder", termsafe.Text(folder))
	}
	for _, mount := range d.Backend.Mounts {
		p.line("mount", termsafe.Text(mount.Source+" at "+mount.Target))
	}
	p.list("may call", d.Tools)
	p.list("variables", d.Env.Forward)
	for _, v := range d.Env.Withheld {
		p.line("withheld", termsafe.Text(v.Name+": "+v.Rule))
	}
	p.list("set", cli.Names(d.Env.Set))
	for _, f := range e.Files {
		p.line("file", termsafe.Text(f.Path)+" "+cmp.Or(f.SHA256, "which does not exist"))
	}
	if d.Approval != nil && d.Approval.CoversAgents {
		p.line("covers", "a yes for longer than once holds for the agents, too, that this one starts")
	}
	for _, o := range e.Opinions {
		p.line(summary.OpinionName, termsafe.Text(summary.Opinion(o)))
	}
	p.line("may grant", strings.Join(e.Scopes, ", ")+"; who may answer: "+termsafe.Text(summary.Quorum(e.Plan)))
}

// known are the facts of a text that are worth a line.
type known struct {
	Complete bool     `json:"complete"`
	Programs []string `json:"programs"`
	Imports  []string `json:"imports"`
	Hosts    []string `json:"hosts"`
	Reads    []string `json:"reads"`
	Writes   []string `json:"writes"`
	Features []string `json:"features"`
}

func (p *sheet) facts(input json.RawMessage) {
	var document struct {
		Command *known `json:"command"`
		Code    *struct {
			known
			Command *known `json:"command"`
		} `json:"code"`
	}
	if json.Unmarshal(input, &document) != nil {
		return // an approval without its input document says less, and is no fault here
	}
	all := []*known{document.Command}
	if document.Code != nil {
		all = append(all, &document.Code.known, document.Code.Command)
	}
	for _, k := range all {
		if k == nil {
			continue
		}
		if !k.Complete {
			p.line("facts", "the text hides a part of what it does")
		}
		p.list("programs", k.Programs)
		p.list("imports", k.Imports)
		p.list("hosts", k.Hosts)
		p.list("reads", k.Reads)
		p.list("writes", k.Writes)
		p.list("features", k.Features)
	}
}

func remaining(e api.Entry) string {
	if e.State != bailiff.ApprovalPending {
		return ""
	}
	return ", " + left(e) + " left"
}

func matched(r bailiff.Reason) string {
	if r.Match == "" {
		return ""
	}
	return " (" + termsafe.Text(r.Match) + ")"
}

func said(v api.Vote) string {
	by := bailiff.Approver{Credential: v.Credential, Channel: v.Channel, Login: v.Login, Proof: v.Proof}
	return termsafe.Text(fmt.Sprintf("%s at %s (%s): %s", cmp.Or(v.Person, v.Credential), v.At.Format(time.DateTime), by.Via(),
		summary.Answer(v)))
}

// logLine is an event of the decision log in a line.
func logLine(h api.Logged) string {
	return strings.TrimSuffix(h.Timestamp.Format(time.DateTime)+"  "+string(h.Event)+"  "+newsOf(h), "  ")
}

// newsOf is what an event says beside its time and its kind.
func newsOf(h api.Logged) string {
	parts := []string{h.Outcome, string(h.Status)}
	if h.ExitCode != nil {
		parts = append(parts, fmt.Sprint(*h.ExitCode))
	}
	parts = append(parts, termsafe.Brief(strings.Join(h.Rules, " "), 60), termsafe.Brief(h.Text, 60), termsafe.Brief(h.Message, 100))
	said := parts[:0]
	for _, part := range parts {
		if part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, "  ")
}
