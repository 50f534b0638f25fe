// Package toolbox remembers which tools of the agents' own the scripts of sessions may
// call, and which calls wait for what answers them: an agent, or the client of an MCP
// server.
//
// Promised here: a call is answered once, by the caller that it was put to; what is
// remembered is bounded, and forgotten with its session.
//
// Not here: whether a tool may be called (the policies), and what runs it.
package toolbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

const (
	// toolsTime is how long a session's tools are remembered without being registered anew.
	toolsTime = 24 * time.Hour
	// maxToolSessions bounds the sessions that have any.
	maxToolSessions = 10_000
)

var (
	errTools        = fmt.Errorf("a session may have %d tools, none with a name of bailiff's own", bailiff.MaxOwnTools)
	errToolSessions = errors.New("too many sessions have registered tools; end some, or wait for a day")
	errNoCall       = errors.New("no call of that id waits for an answer: it was answered, or its script has ended")
)

// Toolbox is empty when it is new. It is safe for concurrent use.
type Toolbox struct {
	mu       sync.Mutex
	sessions map[lease.Key]toolList
	open     map[string]openCall // by id
}

type toolList struct {
	names   []string
	expires time.Time
}

type openCall struct {
	caller string
	answer chan answer // has room for the one answer
}

type answer struct {
	text    string
	isError bool
}

// Register replaces the tools of the agent's own that scripts of a session may call, as
// far as the policies let them. They are forgotten with the session, or after a day.
func (t *Toolbox) Register(session lease.Key, names []string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(names) > bailiff.MaxOwnTools || slices.ContainsFunc(names, func(name string) bool { return !bailiff.IsOwnTool(name) }) {
		return errTools
	}
	delete(t.sessions, session)
	if len(names) == 0 {
		return nil
	}
	if len(t.sessions) >= maxToolSessions && !t.forgetOld() {
		return errToolSessions
	}
	if t.sessions == nil {
		t.sessions = map[lease.Key]toolList{}
	}
	t.sessions[session] = toolList{slices.Clone(names), time.Now().Add(toolsTime)}
	return nil
}

// forgetOld forgets what has expired, and says whether there is room now.
func (t *Toolbox) forgetOld() bool {
	for session, list := range t.sessions {
		if time.Now().After(list.expires) {
			delete(t.sessions, session)
		}
	}
	return len(t.sessions) < maxToolSessions
}

// Offers says whether a session has a tool of that name.
func (t *Toolbox) Offers(session lease.Key, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.sessions[session]
	return time.Now().Before(list.expires) && slices.Contains(list.names, name)
}

// Forget forgets the tools of a session that has ended.
func (t *Toolbox) Forget(session lease.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.sessions, session)
}

// Run has the caller of a request run the tool that it names, and returns with what that
// came to. News is told of the call.
func (t *Toolbox) Run(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) (a bailiff.Answer) {
	id, answered, end := t.ask(req.Caller)
	defer end()
	start := time.Now()
	news(bailiff.Progress{ToolCall: &bailiff.ToolCall{ID: id, Name: req.Args.Name, Arguments: req.Args.Arguments}})
	select {
	case got := <-answered:
		a.Status, a.Output = bailiff.Completed, []byte(got.text)
		if got.isError {
			a.ExitCode = 1
		}
	case <-ctx.Done():
		a.Status, a.ExitCode, a.Message = bailiff.Interrupted, bailiff.ExitInterrupted, giveUpReason(ctx, req.Tool)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			a.Status, a.ExitCode = bailiff.TimedOut, bailiff.ExitTimeout
		}
	}
	a.Duration = time.Since(start)
	return a
}

// giveUpReason is why a call was given up.
func giveUpReason(ctx context.Context, tool bailiff.Tool) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "The call was not answered within its time limit, and given up."
	case tool == bailiff.Call:
		return "The script ended before the agent answered its call."
	}
	return "The caller went away before the call was answered."
}

// ask opens a call that the caller is to answer, until it is closed.
func (t *Toolbox) ask(caller string) (id string, answered <-chan answer, end func()) {
	id = audit.NewID()
	call := openCall{caller, make(chan answer, 1)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[string]openCall{}
	}
	t.open[id] = call
	return id, call.answer, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, id)
	}
}

// Answer ends a call of a tool: with a result, the text of a JSON value, or with what
// went wrong in words. It is an error if no such call of the caller waits.
func (t *Toolbox) Answer(caller, id, result string, isError bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	call, open := t.open[id]
	if !open || call.caller != caller {
		return errNoCall
	}
	delete(t.open, id)
	call.answer <- answer{result, isError}
	return nil
}
