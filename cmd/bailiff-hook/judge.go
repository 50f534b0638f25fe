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
)

// dialect is one client's way of asking and of being answered.
type dialect interface {
	// name is what its sessions are called by.
	name() string
	// read finds the tool call in what the client wrote.
	read(text []byte) (call, error)
	// meaning says what the tool call does; the zero value stands for a tool that is
	// not known.
	meaning(c call) (meaning, error)
	// answer puts a verdict into the client's words.
	answer(c call, v verdict) reply
}

var dialects = map[string]func(headless bool) dialect{
	"claude-code": func(headless bool) dialect { return claude{headless} },
	"codex":       func(bool) dialect { return codex{} },
	"hermes":      func(bool) dialect { return hermes{} },
}

// meaning is what a tool call does, in terms that can be judged.
type meaning struct {
	kind kind
	// command is the shell text, or the one that does the same on the host.
	command string
	// timeout is in seconds; zero means the policies' own.
	timeout int
	// workdir is the folder that the call names, in the sandbox or on this machine.
	workdir string
	// files are what a hostly tool acts on, links followed too; writes says that it changes them.
	files  []string
	writes bool
	// linked says that a link leads to one of the files.
	linked bool
	// why a tool is harmless, or what to use in place of one that is refused.
	why string
}

type kind uint8

const (
	_ kind = iota // a tool that is not known, which is refused
	// replaced tools are refused because another one does the same under bailiff.
	replaced
	// harmless tools touch nothing, or come back with what they do touch.
	harmless
	// shell tools run a command, which can run in a sandbox as well.
	shell
	// hostly tools act on this machine, wherever commands run.
	hostly
)

// verdict is what is to become of a tool call. Its zero value denies.
type verdict struct {
	outcome outcome
	reason  string
	// command is what runs in place of the one asked for; empty means that.
	command string
	// wait is how many seconds an approval may take.
	wait int
}

type outcome uint8

const (
	deny outcome = iota
	ask
	allow
	// abstain leaves it to the client, as if bailiff were not there.
	abstain
)

func denied(why error) verdict { return verdict{reason: why.Error()} }

// judge says what is to become of a tool call; an error denies.
func (h hook) judge(ctx context.Context, c call) (verdict, error) {
	if h.passes(c.tool) {
		return verdict{outcome: abstain}, nil
	}
	if c.after {
		return verdict{outcome: abstain}, h.lookAgain(ctx, c)
	}
	m, err := h.client.meaning(c)
	if err != nil {
		return verdict{}, fmt.Errorf("reading the input of %s: %w", c.tool, err)
	}
	switch m.kind {
	case harmless:
		return verdict{outcome: abstain}, nil
	case replaced:
		return verdict{}, fmt.Errorf("%s is not judged by bailiff: %s", c.tool, m.why)
	case hostly:
		return h.judgeFiles(ctx, c, m)
	case shell:
		if h.onHost {
			return h.judgeHost(ctx, c, m)
		}
		return h.startable(h.judgeShell(ctx, c, m))
	}
	if matched, _ := path.Match(own, c.tool); matched {
		return verdict{}, fmt.Errorf("the tool %s is called like one of \"bailiff mcp\", and any server can be called so; where the "+
			"client's settings leave that name to bailiff's own, start bailiff-hook with --pass-bailiff-mcp", c.tool)
	}
	return verdict{}, fmt.Errorf("the tool %s is not known; whoever has it guarded otherwise starts bailiff-hook with --pass '%[1]s'",
		c.tool)
}

// own are the tools of bailiff's own server, which judges their calls itself. Another
// server may be called so, which is for the client's settings to prevent.
const own = "mcp__bailiff__*"

func (h hook) passes(tool string) bool {
	patterns := h.pass
	if h.passMCP {
		patterns = append(list{own}, h.pass...)
	}
	for _, pattern := range patterns {
		if matched, err := path.Match(pattern, tool); matched && err == nil {
			return true
		}
	}
	return false
}

// judgeShell lets a command run by bailiff only.
func (h hook) judgeShell(ctx context.Context, c call, m meaning) (verdict, error) {
	if h.isOrder(c, m.command) {
		return verdict{outcome: allow, reason: "bailiff judges it when it runs", command: m.command}, nil
	}
	d, folder, err := h.previewInFolder(ctx, c, m)
	if err != nil {
		return verdict{}, err
	}
	o := order{workdir: folder, timeout: m.timeout, text: m.command}
	if d.Outcome == bailiff.Ask {
		o.wait = d.Approval.TimeoutSeconds
	}
	v := verdict{command: h.line(c, o)}
	switch d.Outcome {
	case bailiff.Allow:
		v.outcome, v.reason = allow, "allowed by the policies; bailiff runs it in "+d.Backend.Name
	case bailiff.Ask:
		v.outcome, v.wait = ask, d.Approval.TimeoutSeconds+d.Limits.TimeoutSeconds
		v.reason = "bailiff asks its approvers: " + sentences(d.Approval.Reasons)
	default:
		return verdict{}, refusal(d)
	}
	return v, nil
}

// previewInFolder returns what the sidecar would decide, and the folder of the sandbox in which it would run; empty if none is
// known. The first answer says where the sandbox shows the client's folder, and is about the folder in which the session
// stands. What people would have to be asked about there is judged once more, in the folder in which it would run. Another
// answer stands: the sidecar judges the command in its folder when it runs.
func (h hook) previewInFolder(ctx context.Context, c call, m meaning) (d decided, folder string, err error) {
	req := h.request(c, m, "")
	d, err = h.preview(ctx, req)
	if err != nil {
		return decided{}, "", err
	}
	folder = workdir(m.workdir, c.cwd, d.Backend.Mounts)
	if d.Outcome != bailiff.Ask || folder == "" {
		return d, folder, nil
	}
	req.Args.Workdir = folder
	d, err = h.preview(ctx, req)
	return d, folder, err
}

// startable denies an order to a program that is not there: what could not run must
// not look as if it did.
func (h hook) startable(v verdict, err error) (verdict, error) {
	if err != nil {
		return verdict{}, err
	}
	if about, err := os.Stat(h.bailiff); err != nil || !about.Mode().IsRegular() || about.Mode()&0o111 == 0 {
		return verdict{}, fmt.Errorf("there is no program %s (--bailiff)", h.bailiff)
	}
	return v, nil
}

// judgeHost allows what happens on this machine, without bailiff, only if no approver
// needs to be asked: none could be.
func (h hook) judgeHost(ctx context.Context, c call, m meaning) (verdict, error) {
	if m.kind == shell && m.workdir == "" && c.cwd == "" {
		return verdict{}, errors.New("nobody says in which folder it would run; name it (workdir)")
	}
	ask := h.decide
	if m.kind == shell {
		ask = h.decideHere
	}
	d, err := ask(ctx, h.request(c, m, local))
	if err != nil {
		return verdict{}, err
	}
	instead := "; the shell tool runs in the sandbox"
	switch {
	case m.why != "":
		instead = "; " + m.why
	case m.kind == shell:
		instead = "; without --on-host it would run in the sandbox"
	}
	switch {
	case d.Outcome == bailiff.Ask:
		return verdict{}, errors.New("on this machine a person would have to approve it: " + sentences(d.Approval.Reasons) + instead)
	case d.Outcome != bailiff.Allow && m.kind == hostly && isForNoOne(d):
		return verdict{}, fmt.Errorf("%s acts on this machine, where the policies let nothing of this session run "+
			"(backend.not_configured: local)%s", c.tool, instead)
	case d.Outcome != bailiff.Allow:
		return verdict{}, fmt.Errorf("%w%s", refusal(d), instead)
	case d.Backend.Name != local:
		return verdict{}, fmt.Errorf("it would run on this machine, and the policies want it in %s%s", d.Backend.Name, instead)
	case m.kind == shell && len(d.unread) > 0:
		return verdict{}, fmt.Errorf("the sidecar could not look at %s, on which it depends what the command does%s", d.unread[0], instead)
	}
	return verdict{outcome: allow, reason: "allowed on this machine by the policies"}, nil
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
func (h hook) request(c call, m meaning, backend string) bailiff.Request {
	args := bailiff.Args{Command: m.command, Timeout: m.timeout}
	if backend == local {
		args.Workdir = cmp.Or(m.workdir, c.cwd)
	}
	return bailiff.Request{Tool: bailiff.Terminal, Env: h.env, Backend: backend, Args: args,
		Session: bailiff.Session{ID: h.session(c), Platform: h.platform, UserID: h.user, ChatType: "dm"}}
}

func (h hook) session(c call) string { return h.client.name() + ":" + c.session }

func refusal(d decided) error {
	return errors.New("the policies deny it: " + sentences(d.Denials))
}

// sentences are reasons as people read them, without the last full stop.
func sentences(reasons []bailiff.Reason) string {
	return strings.TrimSuffix(bailiff.Sentences(reasons), ".")
}
