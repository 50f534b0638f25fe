package enforcer

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/secrets/redact"
)

// asServer runs a command with the lines of a dialogue as its input and output. What it
// says on standard error is what it prints.
const asServer = `exec "$@" <&3 >&4 3<&- 4>&-`

// errFilesChanged ends a server that is not known to be what a person said yes to.
var errFilesChanged = errors.New("the files that the MCP server is started from changed while it started")

// lastWords is how much of what a server prints stands in its answer.
const lastWords = 4 << 10

// converse runs an MCP server to its end. Its sandbox is held meanwhile, so that policies and
// operators who take the sandbox away end the server.
func (e *Enforcer) converse(ctx context.Context, g grant) (answered answer) {
	ctx, stop := g.held.Within(ctx)
	defer stop()
	a := answer{Answer: bailiff.Answer{Backend: g.Decision.Backend.Name, SandboxID: g.held.ID()}}
	way, err := e.openWay(ctx, g)
	if err != nil {
		return e.noSandbox(ctx, g.Decision, err)
	}
	defer func() { way.end(&answered) }()
	cmd, ear := backgroundCommand(g), &serverEar{news: g.news, redactor: redact.New(e.secrets(g))}
	cmd.Argv = append([]string{"/bin/bash", "--noprofile", "--norc", "-c", asServer, "bash"}, cmd.Argv...)
	cmd.Env, cmd.Label, cmd.Stdin = way.variables(cmd.Env), way.Label(), nil
	files, err := g.held.Digest(ctx, cmd.Workdir, g.Files)
	if err != nil {
		return e.broken(ctx, g, a, err)
	}
	server, err := g.held.Converse(ctx, cmd, ear)
	if a.started = !errors.Is(err, backends.ErrNotStarted); err != nil {
		return e.broken(ctx, g, a, err)
	}
	if err := e.differs(ctx, g, cmd.Workdir, files); err != nil { // what ran may be neither
		return e.broken(ctx, g, a, errors.Join(err, server.Kill(context.WithoutCancel(ctx))))
	}
	g.news(bailiff.Progress{Say: server.Say, Files: files})
	select {
	case <-server.Done():
	case <-ctx.Done():
	}
	if err := server.Kill(context.WithoutCancel(ctx)); err != nil {
		return e.broken(ctx, g, a, err)
	}
	ear.tell(ear.redactor.Flush())
	exit := server.Exit()
	exit.Interrupted = exit.Interrupted || ctx.Err() != nil
	a.Duration, a.Output = exit.Duration, ear.printed
	a.end(ctx, exit, cmd.Timeout)
	a.Note(circumstances(exit, g.held, g.Decision)...)
	return a
}

// differs is an error unless the files of a server have the content that they had before it started.
func (e *Enforcer) differs(ctx context.Context, g grant, workdir string, before []bailiff.File) error {
	after, err := g.held.Digest(ctx, workdir, g.Files)
	if err == nil && !slices.Equal(after, before) {
		err = errFilesChanged
	}
	return err
}

// serverEar hands on what a server says and prints, redacted.
type serverEar struct {
	news     func(bailiff.Progress)
	redactor *redact.Redactor
	printed  []byte // the last of it
}

// Output takes what the server prints.
func (s *serverEar) Output(p []byte) { s.tell(s.redactor.Write(p)) }

func (s *serverEar) tell(text []byte) {
	told := bytes.Clone(text)
	s.printed = append(s.printed, told...)
	s.printed = bytes.Clone(s.printed[max(0, len(s.printed)-lastWords):])
	s.news(bailiff.Progress{Output: told})
}

// Line takes one line that it says.
func (s *serverEar) Line(line []byte) { s.news(bailiff.Progress{Line: s.redactor.Redact(line)}) }

// LongLine takes the ends of one that is too long.
func (s *serverEar) LongLine(head, tail []byte) {
	s.news(bailiff.Progress{LongLine: &bailiff.LongLine{Head: head, Tail: tail}})
}
