package enforcer

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

// RegisterTools replaces the tools of the agent's own that scripts of a session may
// call, as far as the policies let them. They are forgotten with the session, or
// after a day.
func (e *Enforcer) RegisterTools(caller, session string, names []string) error {
	return e.tools.register(lease.Key{Caller: caller, Session: session}, names)
}

// AnswerTool ends a call of a tool: with a result, the text of a JSON value, or
// with what went wrong in words. It is an error if no such call of the caller waits.
func (e *Enforcer) AnswerTool(caller, id, result string, isError bool) error {
	return e.tools.answer(id, caller, toolAnswer{result, isError})
}

// toolbox remembers which tools sessions have, and which calls wait for answers.
type toolbox struct {
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
	answer chan toolAnswer // has room for the one answer
}

type toolAnswer struct {
	text    string
	isError bool
}

func (t *toolbox) register(session lease.Key, names []string) error {
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
func (t *toolbox) forgetOld() bool {
	for session, list := range t.sessions {
		if time.Now().After(list.expires) {
			delete(t.sessions, session)
		}
	}
	return len(t.sessions) < maxToolSessions
}

func (t *toolbox) offers(caller, session, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.sessions[lease.Key{Caller: caller, Session: session}]
	return time.Now().Before(list.expires) && slices.Contains(list.names, name)
}

// forget forgets the tools of a session that has ended.
func (t *toolbox) forget(caller, session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.sessions, lease.Key{Caller: caller, Session: session})
}

// ask opens a call that the caller is to answer, until it is closed.
func (t *toolbox) ask(caller string) (id string, answer <-chan toolAnswer, end func()) {
	id = audit.NewID()
	call := openCall{caller, make(chan toolAnswer, 1)}
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

func (t *toolbox) answer(id, caller string, a toolAnswer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	call, open := t.open[id]
	if !open || call.caller != caller {
		return errNoCall
	}
	delete(t.open, id)
	call.answer <- a
	return nil
}

// handOver has the agent run a tool of its own that a script called.
func (e *Enforcer) handOver(ctx context.Context, g grant) answer {
	if err := g.script.MayStart(ctx); err != nil {
		return failure(bailiff.Unavailable, bailiff.CodeHome, err)
	}
	id, answered, end := e.tools.ask(g.located.Caller)
	defer end()
	start := time.Now()
	g.news(bailiff.Progress{ToolCall: &bailiff.ToolCall{ID: id, Name: g.located.Args.Name, Arguments: g.located.Args.Arguments}})
	a := answer{started: true}
	select {
	case got := <-answered:
		a.Status, a.Output = bailiff.Completed, []byte(got.text)
		if got.isError {
			a.ExitCode = 1
		}
	case <-ctx.Done():
		a.Status, a.ExitCode, a.Message = bailiff.Interrupted, bailiff.ExitInterrupted,
			"The script ended before the agent answered its call."
	}
	a.Duration = time.Since(start)
	return a
}
