package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// judge says what is to become of a tool call; an error denies.
func (p program) judge(ctx context.Context, c hook.Call) (hook.Verdict, error) {
	if p.passes(c.Tool) {
		return hook.Verdict{Outcome: hook.Abstain}, nil
	}
	if c.After {
		return hook.Verdict{Outcome: hook.Abstain}, p.lookAgain(ctx, c)
	}
	m, err := p.client.Meaning(c)
	if err != nil {
		return hook.Verdict{}, fmt.Errorf("reading the input of %s: %w", c.Tool, err)
	}
	switch m.Kind {
	case hook.Harmless:
		return hook.Verdict{Outcome: hook.Abstain}, nil
	case hook.Replaced:
		return hook.Verdict{}, fmt.Errorf("%s is not judged by bailiff: %s", c.Tool, m.Why)
	case hook.Hostly:
		return p.judgeFiles(ctx, c, m)
	case hook.Outward:
		return p.judgeAddresses(ctx, c, m)
	case hook.Shell:
		if p.onHost {
			return p.judgeHost(ctx, c, m)
		}
		return p.startable(p.judgeShell(ctx, c, m))
	}
	if matched, _ := path.Match(own, c.Tool); matched {
		return hook.Verdict{}, fmt.Errorf("the tool %s is called like one of \"bailiff mcp\", and any server can be called so; where the "+
			"client's settings leave that name to bailiff's own, start bailiff-hook with --pass-bailiff-mcp", c.Tool)
	}
	return hook.Verdict{}, fmt.Errorf("the tool %s is not known; whoever has it guarded otherwise starts bailiff-hook with --pass '%[1]s'",
		c.Tool)
}

// own are the tools of bailiff's own server, which judges their calls itself. Another
// server may be called so, which is for the client's settings to prevent.
const own = "mcp__bailiff__*"

func (p program) passes(tool string) bool {
	patterns := p.pass
	if p.passMCP {
		patterns = append(list{own}, p.pass...)
	}
	for _, pattern := range patterns {
		if matched, err := path.Match(pattern, tool); matched && err == nil {
			return true
		}
	}
	return false
}

// judgeShell lets a command run by bailiff only.
func (p program) judgeShell(ctx context.Context, c hook.Call, m hook.Meaning) (hook.Verdict, error) {
	if p.isOrder(c, m.Command) {
		return hook.Verdict{Outcome: hook.Allow, Reason: "bailiff judges it when it runs", Command: m.Command}, nil
	}
	d, folder, err := p.previewInFolder(ctx, c, m)
	if err != nil {
		return hook.Verdict{}, err
	}
	o := order{workdir: folder, timeout: m.Timeout, text: m.Command}
	if d.Outcome == bailiff.Ask {
		o.wait = d.Approval.TimeoutSeconds
	}
	v := hook.Verdict{Command: p.line(c, o), Headless: p.headless}
	switch d.Outcome {
	case bailiff.Allow:
		v.Outcome, v.Reason = hook.Allow, "allowed by the policies; bailiff runs it in "+d.Backend.Name
	case bailiff.Ask:
		v.Outcome, v.Wait = hook.Ask, d.Approval.TimeoutSeconds+d.Limits.TimeoutSeconds
		v.Reason = "bailiff asks its approvers: " + sentences(d.Approval.Reasons)
	default:
		return hook.Verdict{}, refusal(d)
	}
	return v, nil
}

// previewInFolder returns what the sidecar would decide, and the folder of the sandbox in which it would run; empty if none is
// known. The first answer says where the sandbox shows the client's folder, and is about the folder in which the session
// stands. What people would have to be asked about there is judged once more, in the folder in which it would run. Another
// answer stands: the sidecar judges the command in its folder when it runs.
func (p program) previewInFolder(ctx context.Context, c hook.Call, m hook.Meaning) (d decided, folder string, err error) {
	req := p.request(c, m, "")
	d, err = p.preview(ctx, req)
	if err != nil {
		return decided{}, "", err
	}
	folder = workdir(m.Workdir, c.Cwd, d.Backend.Mounts)
	if d.Outcome != bailiff.Ask || folder == "" {
		return d, folder, nil
	}
	req.Args.Workdir = folder
	d, err = p.preview(ctx, req)
	return d, folder, err
}

// startable denies an order to a program that is not there: what could not run must
// not look as if it did.
func (p program) startable(v hook.Verdict, err error) (hook.Verdict, error) {
	if err != nil {
		return hook.Verdict{}, err
	}
	if about, err := os.Stat(p.bailiff); err != nil || !about.Mode().IsRegular() || about.Mode()&0o111 == 0 {
		return hook.Verdict{}, fmt.Errorf("there is no program %s (--bailiff)", p.bailiff)
	}
	return v, nil
}

// judgeHost allows what happens on this machine, without bailiff, only if no approver
// needs to be asked: none could be.
func (p program) judgeHost(ctx context.Context, c hook.Call, m hook.Meaning) (hook.Verdict, error) {
	if m.Kind == hook.Shell && m.Workdir == "" && c.Cwd == "" {
		return hook.Verdict{}, errors.New("nobody says in which folder it would run; name it (workdir)")
	}
	ask := p.decide
	if m.Kind == hook.Shell {
		ask = p.decideHere
	}
	d, err := ask(ctx, p.request(c, m, local))
	if err != nil {
		return hook.Verdict{}, err
	}
	instead := "; the shell tool runs in the sandbox"
	switch {
	case m.Why != "":
		instead = "; " + m.Why
	case m.Kind == hook.Shell:
		instead = "; without --on-host it would run in the sandbox"
	}
	switch {
	case d.Outcome == bailiff.Ask:
		return hook.Verdict{}, errors.New("on this machine a person would have to approve it: " + sentences(d.Approval.Reasons) + instead)
	case d.Outcome != bailiff.Allow && m.Kind == hook.Hostly && isForNoOne(d):
		return hook.Verdict{}, fmt.Errorf("%s acts on this machine, where the policies let nothing of this session run "+
			"(backend.not_configured: local)%s", c.Tool, instead)
	case d.Outcome != bailiff.Allow:
		return hook.Verdict{}, fmt.Errorf("%w%s", refusal(d), instead)
	case d.Backend.Name != local:
		return hook.Verdict{}, fmt.Errorf("it would run on this machine, and the policies want it in %s%s", d.Backend.Name, instead)
	case m.Kind == hook.Shell && len(d.unread) > 0:
		return hook.Verdict{}, fmt.Errorf("the sidecar could not look at %s, on which it depends what the command does%s", d.unread[0],
			instead)
	}
	return hook.Verdict{Outcome: hook.Allow, Reason: "allowed on this machine by the policies"}, nil
}

// isForNoOne says whether all that speaks against it is that nothing may run on this
// machine, which no client asked for by name.
func isForNoOne(d decided) bool {
	return len(d.Denials) == 1 && d.Denials[0].Rule == "backend.not_configured"
}

// local is the backend that is this machine.
const local = "local"

// request is what the sidecar is asked. The folder is known beforehand on this machine
// only; where a sandbox shows it, the decision says.
func (p program) request(c hook.Call, m hook.Meaning, backend string) bailiff.Request {
	args := bailiff.Args{Command: m.Command, Timeout: m.Timeout}
	if backend == local {
		args.Workdir = cmp.Or(m.Workdir, c.Cwd)
	}
	session := bailiff.Session{ID: p.session(c), Platform: p.platform, UserID: p.user, ChatType: "dm"}
	if c.Agent != "" { // no client says how deep it is
		session.Agent = bailiff.Agent{ID: c.Agent, Depth: 1}
	}
	return bailiff.Request{Tool: bailiff.Terminal, Env: p.env, Backend: backend, Args: args, Session: session}
}

func (p program) session(c hook.Call) string { return p.name + ":" + c.Session }

func refusal(d decided) error {
	return errors.New("the policies deny it: " + sentences(d.Denials))
}

// sentences are reasons as people read them, without the last full stop.
func sentences(reasons []bailiff.Reason) string {
	return strings.TrimSuffix(bailiff.Sentences(reasons), ".")
}
