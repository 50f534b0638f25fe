package enforcer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff/backends"
)

// talk is an interpreter of a sandbox, which does what a test has its scripts do.
type talk struct {
	cmd     backends.Command
	hear    backends.Listener
	scripts chan spoken
	answers chan spoken
	breaks  chan struct{} // has room for one
	done    chan struct{}

	mu   sync.Mutex // held while it is heard
	over bool
	exit backends.Exit
}

// spoken is a line that an interpreter gets.
type spoken struct {
	Script int      `json:"script"`
	Code   string   `json:"code"`
	Dir    string   `json:"dir"`
	Tools  []string `json:"tools"`
	Site   bool     `json:"user_site"`
	Last   bool     `json:"last"`
	Rest   int      `json:"rest"`

	Answer int             `json:"answer"`
	Value  json.RawMessage `json:"value"`
	Fault  string          `json:"fault"`
}

func (r *fakeSandbox) Converse(_ context.Context, cmd backends.Command, hear backends.Listener) (backends.Dialogue, error) {
	t := &talk{cmd: cmd, hear: hear, scripts: make(chan spoken), answers: make(chan spoken, 10), breaks: make(chan struct{}, 1),
		done: make(chan struct{})}
	r.mu.Lock()
	r.talks = append(r.talks, t)
	r.mu.Unlock()
	if r.fakeBackend.talks != nil {
		if err := r.fakeBackend.talks(t); err != nil {
			return nil, err
		}
	}
	go t.serve(r)
	return t, nil
}

func (r *fakeSandbox) interpreters() []*talk {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.talks)
}

func (t *talk) serve(r *fakeSandbox) {
	t.says(`{"ready": "/workspace"}`)
	for {
		select {
		case s := <-t.scripts:
			if s.Rest != 0 {
				t.says(`{"rest": %d}`, s.Rest)
				continue
			}
			p := &python{talk: t, spoken: s, at: s.Dir}
			if p.at == "" {
				p.at = "/workspace"
			}
			r.fakeBackend.scripts.Add(1)
			code := 0
			if r.fakeBackend.script != nil {
				code = r.fakeBackend.script(p)
			}
			at, _ := json.Marshal(p.at)
			t.says(`{"end": %d, "code": %d, "dir": %s}`, s.Script, code, at)
			if s.Last {
				t.ends(backends.Exit{Code: code})
			}
		case <-t.done:
			return
		}
	}
}

func (t *talk) says(format string, values ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.hear.Line(fmt.Appendf(nil, format, values...))
	}
}

func (t *talk) Say(line []byte) error {
	var s spoken
	if err := json.Unmarshal(line, &s); err != nil {
		return err
	}
	to := t.answers
	if s.Answer == 0 {
		to = t.scripts
	}
	select {
	case to <- s:
		return nil
	case <-t.done:
		return errBoom
	}
}

func (t *talk) Break() error {
	select {
	case t.breaks <- struct{}{}:
	default:
	}
	return nil
}

func (t *talk) Kill(context.Context) error {
	t.ends(backends.Exit{Code: 137, Interrupted: true})
	return nil
}

func (t *talk) Done() <-chan struct{} { return t.done }

func (t *talk) Exit() backends.Exit {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.exit
}

func (t *talk) ends(exit backends.Exit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.over, t.exit = true, exit
		close(t.done)
	}
}

func (t *talk) lives() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.over
}

// python is a running script.
type python struct {
	*talk
	spoken
	at    string // where it stands
	calls int
}

func (t *talk) prints(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.hear.Output([]byte(text))
	}
}

// call calls a tool, and returns its value or the text of a fault.
func (p *python) call(tool, arguments string) (value, fault string) {
	p.calls++
	p.says(`{"call": %d, "script": %d, "tool": %q, "arguments": %s}`, p.calls, p.Script, tool, arguments)
	select {
	case s := <-p.answers:
		return string(s.Value), s.Fault
	case <-p.done:
		return "", "the interpreter was killed"
	}
}

// untilBroken waits for an interrupt.
func (p *python) untilBroken() {
	select {
	case <-p.breaks:
	case <-p.done:
	}
}
