// Package kernel runs scripts, one after another, in a Python interpreter that
// lives in a sandbox and keeps their variables. [Start] starts one, [Kernel.Run]
// runs a script in it.
//
// The interpreter is a command that converses ([backends.Sandbox.Converse]): what
// scripts print is its output, and over its lines go scripts, their ends, and
// their calls of tools, which [Kernel.Run] hands to its caller. So nothing of it
// needs a network, a file or a port.
//
// Promised here: what a script printed is heard before its end; a script that is
// stopped leaves nothing running, and the variables stay where an interrupt was
// enough; a script calls a bounded number of tools, none outlives it, and threads
// of earlier scripts call none.
//
// Scripts are judged one by one. So Python's own names mean in each what they say,
// whatever an earlier script called so; all other names are kept, and modules as
// earlier scripts changed them. It is started isolated (python3 -I), and what can be
// imported from the workspace or of the user's own stands in for nothing else.
//
// Nothing the interpreter says is believed beyond what any command could do: the
// script shares its process, and may write lines of its own. So a script's end is
// believed once the interpreter waits for the next, and one in which something goes
// on between scripts ([Kernel.Restless]) is fit for no other. What a tool may be
// called for is for the caller to judge.
package kernel

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

//go:embed kernel.py
var driver string

// load runs the driver in a namespace of its own, under a name by which its
// frames are told from a script's.
const load = `import sys; exec(compile(sys.argv.pop(), "<kernel>", "exec"), {"__name__": "kernel"})`

const (
	// startTime bounds the start of an interpreter.
	startTime = 30 * time.Second
	// patience is how long an interrupted script has to end, and an interpreter to say
	// that it waits; killTime how long it may take to kill the interpreter.
	patience = 2 * time.Second
	killTime = 10 * time.Second
	// lastWords of an interpreter that does not start are told.
	lastWords = 512
	// maxAnswers wait to be taken by the interpreter.
	maxAnswers = 128
)

// Place is a sandbox, as far as a kernel needs it.
type Place interface {
	Converse(ctx context.Context, cmd backends.Command, hear backends.Listener) (backends.Dialogue, error)
}

// Kernel is a live interpreter.
type Kernel struct {
	dialogue backends.Dialogue
	// home is where scripts start that name no folder.
	home   string
	outbox chan []byte
	ready  chan struct{} // closed when home is set

	mu     sync.Mutex
	now    *run          // nil between scripts
	number int           // of the latest script, not to be guessed
	rested chan struct{} // closed when it waits for the next
	early  []byte        // the end of what was printed before the first script
	// restless says that something was printed or said between scripts.
	restless bool
}

// Start starts an interpreter with the sandbox's python3. Errors are those of
// [backends.Sandbox.Run].
func Start(ctx context.Context, place Place, env map[string]bailiff.Secret) (*Kernel, error) {
	k := &Kernel{outbox: make(chan []byte, maxAnswers), ready: make(chan struct{})}
	cmd := backends.Command{Argv: []string{"python3", "-I", "-u", "-c", load, driver}, Env: env, Reap: true}
	var err error
	if k.dialogue, err = place.Converse(ctx, cmd, (*listener)(k)); err != nil {
		return nil, err
	}
	go k.speak()
	if err := k.awaitReady(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", backends.ErrNotStarted, err), k.End(ctx))
	}
	return k, nil
}

func (k *Kernel) awaitReady(ctx context.Context) error {
	late := time.NewTimer(startTime)
	defer late.Stop()
	select {
	case <-k.ready:
		return nil
	case <-k.Done():
		if k.dialogue.Exit().Lost {
			return errors.New("the sandbox was lost as python3 was started")
		}
		return fmt.Errorf("%w: python3 ended with status %d as it was started: %s", backends.ErrUnfit, k.dialogue.Exit().Code, k.words())
	case <-late.C:
		return fmt.Errorf("python3 was not ready after %s", startTime)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *Kernel) words() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return bailiff.Sentence(string(k.early))
}

// Done is closed when the interpreter has ended.
func (k *Kernel) Done() <-chan struct{} { return k.dialogue.Done() }

// End ends the interpreter with all that its scripts left behind, and returns when
// they are gone.
func (k *Kernel) End(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	return k.dialogue.Kill(ctx)
}

// Restless says whether something of earlier scripts was heard after their end.
func (k *Kernel) Restless() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.restless
}

// isAtRest says whether the interpreter has nothing to do but to wait for a script.
func (k *Kernel) isAtRest(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	rested := make(chan struct{})
	k.mu.Lock()
	k.rested = rested
	number := k.number
	k.mu.Unlock()
	k.say(ctx, struct {
		Rest int `json:"rest"`
	}{number})
	select {
	case <-rested:
		return !k.Restless()
	case <-ctx.Done():
	case <-k.Done():
	}
	return false
}

// speak passes lines on, in their order, until the interpreter ends.
func (k *Kernel) speak() {
	for {
		select {
		case line := <-k.outbox:
			if k.dialogue.Say(line) != nil {
				return // it is ending
			}
		case <-k.Done():
			return
		}
	}
}

// say queues a message. It waits for room until ctx ends.
func (k *Kernel) say(ctx context.Context, message any) {
	select {
	case k.outbox <- encoded(message):
	case <-ctx.Done():
	case <-k.Done():
	}
}

// answer queues one unless the interpreter leaves so many untaken that it cannot
// mean its questions.
func (k *Kernel) answer(message any) {
	select {
	case k.outbox <- encoded(message):
	default:
	}
}

func encoded(message any) []byte {
	line, err := json.Marshal(message)
	if err != nil {
		panic(err) // text and numbers, and JSON that was checked: cannot fail
	}
	return line
}

// listener is the side of a Kernel that hears its interpreter.
type listener Kernel

// Output passes on what the running script prints.
func (l *listener) Output(p []byte) {
	k := (*Kernel)(l)
	if now := k.heard(p); now != nil {
		now.take(p)
	}
}

// heard returns whose output comes; between scripts it is not asked for.
func (k *Kernel) heard(p []byte) *run {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.now != nil:
	case k.number == 0:
		k.early = append(k.early, p...)
		k.early = k.early[max(0, len(k.early)-lastWords):]
	default:
		k.restless = true
	}
	return k.now
}

// word is a line of the interpreter.
type word struct {
	Ready *string `json:"ready"`
	Rest  int     `json:"rest"`

	Call      int             `json:"call"`
	Script    int             `json:"script"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`

	End   int    `json:"end"`
	Unfit string `json:"unfit"`
	Code  int    `json:"code"`
	Dir   string `json:"dir"`
	Left  int    `json:"left"`
}

// Line takes a message; what a script writes there that is none is no concern.
func (l *listener) Line(line []byte) {
	k := (*Kernel)(l)
	var w word
	_ = json.Unmarshal(line, &w) // else it says nothing
	k.mu.Lock()
	now, number := k.now, k.number
	if now == nil {
		k.takeBetween(w)
	}
	k.mu.Unlock()
	switch {
	case now == nil:
	case w.Call != 0 && w.Script != number:
		k.answer(reply{Answer: w.Call, Fault: errOver.Error()})
	case w.Call != 0:
		now.call(w)
	case w.End == number:
		now.end(w)
	}
}

// takeBetween takes a message that comes while no script runs; called with the
// lock held.
func (k *Kernel) takeBetween(w word) {
	switch {
	case k.number == 0 && w.Ready != nil && k.home == "":
		k.home = *w.Ready
		close(k.ready)
	case k.rested != nil && w.Rest == k.number:
		close(k.rested)
		k.rested = nil
	default:
		k.restless = true
	}
}
