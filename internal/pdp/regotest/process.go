package regotest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

// warmTime is how long the process that runs tests stays after its last request: a team that saves rules saves again soon.
const warmTime = 5 * time.Minute

// Process is a program that runs tests, started where it does not run. It is safe for concurrent use.
type Process struct {
	command func(context.Context) *exec.Cmd
	known   *passes.Memory

	mu      sync.Mutex // one run at a time
	process *testProcess
	idle    *time.Timer
}

// NewProcess makes one of a command, which runs the tests that are not known to pass.
func NewProcess(command func(context.Context) *exec.Cmd, known *passes.Memory) *Process {
	return &Process{command: command, known: known}
}

// Run runs the tests of files. The end of ctx ends the wait; the next request ends the run.
func (t *Process) Run(ctx context.Context, files []source.File) Outcome {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle != nil {
		t.idle.Stop()
	}
	answer, err := t.ask(ctx, files)
	if err != nil {
		return Outcome{Faults: source.Faults{{Message: fmt.Sprintf("the tests of the policies could not be run: %v", err)}}}
	}
	t.idle = time.AfterFunc(warmTime, t.Close)
	return Outcome{Passed: passes.KeysIn(answer.Passed), Faults: answer.Faults, Lasts: answer.Lasts}
}

// ask asks the process that is there. One that has gone since it answered last is replaced.
func (t *Process) ask(ctx context.Context, files []source.File) (answer testAnswer, err error) {
	if t.process != nil {
		if answer, err = t.process.ask(ctx, files); err == nil || ctx.Err() != nil {
			return answer, err
		}
		t.end()
	}
	if t.process, err = startTests(t.command, t.known); err != nil {
		return answer, err
	}
	if answer, err = t.process.ask(ctx, files); err != nil && ctx.Err() == nil {
		t.end()
	}
	return answer, err
}

// Close ends the process; the next run starts another one.
func (t *Process) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end()
}

func (t *Process) end() {
	if t.process != nil {
		t.process.end()
		t.process = nil
	}
}

// testProcess is a process that serves tests, see [Serve].
type testProcess struct {
	cmd     *exec.Cmd
	kill    context.CancelFunc
	asks    *json.Encoder
	answers chan testAnswer // closed after the last
	wrong   error           // why there are no more answers
	stderr  *headtail.Writer
	last    bytes.Buffer // the end of stderr, once the process has ended
	sent    map[passes.Key]bool
	passed  []byte // to be told with the first request
}

// maxTold bounds what of the program's messages stands in a fault.
const maxTold = 1 << 10

func startTests(command func(context.Context) *exec.Cmd, known *passes.Memory) (*testProcess, error) {
	ctx, kill := context.WithCancel(context.Background())
	p := &testProcess{cmd: command(ctx), kill: kill, passed: passes.BytesOf(known.All()), sent: map[passes.Key]bool{},
		answers: make(chan testAnswer)}
	p.stderr = &headtail.Writer{Tail: maxTold, Emit: func(part []byte) { _, _ = p.last.Write(part) }}
	p.cmd.Env, p.cmd.WaitDelay, p.cmd.Stderr = []string{}, time.Second, p.stderr
	in, err := p.cmd.StdinPipe() // what stays open says that this process lives
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.asks = json.NewEncoder(in)
	go p.read(ctx, json.NewDecoder(out))
	return p, nil
}

func (p *testProcess) read(ctx context.Context, answers *json.Decoder) {
	defer close(p.answers)
	answers.DisallowUnknownFields()
	for {
		var answer testAnswer
		if p.wrong = answers.Decode(&answer); p.wrong != nil {
			return
		}
		select {
		case p.answers <- answer:
		case <-ctx.Done():
			p.wrong = ctx.Err()
			return
		}
	}
}

// ask sends what was not sent before, and awaits the answer about these files.
func (p *testProcess) ask(ctx context.Context, files []source.File) (testAnswer, error) {
	request := testRequest{Files: make([]sentFile, len(files)), Passed: p.passed}
	sent := map[passes.Key]bool{}
	for i, f := range files {
		one := sentFile{Name: []byte(f.Name), Place: []byte(f.Place), Archive: []byte(f.Archive), Digest: sha256.Sum256(f.Text)}
		if !p.sent[one.Digest] {
			one.Text = append([]byte{}, f.Text...)
		}
		request.Files[i], sent[one.Digest] = one, true
	}
	if err := p.send(ctx, request); err != nil {
		return testAnswer{}, p.ended(err)
	}
	p.sent, p.passed = sent, nil
	for of := digestOfAll(files); ; {
		select {
		case <-ctx.Done():
			return testAnswer{}, ctx.Err()
		case answer, more := <-p.answers:
			switch {
			case !more:
				return answer, p.ended(p.wrong)
			case answer.Of == of:
				return answer, nil
			case answer.Of == (passes.Key{}):
				return answer, p.ended(errors.New("the answer is about no files"))
			} // else it came as the request before was given up
		}
	}
}

// hangTime is how long a process may take to read what is given up already.
const hangTime = 5 * time.Second

// send sends a request. A process that reads nothing is killed once the request is given up.
func (p *testProcess) send(ctx context.Context, request testRequest) error {
	sent := make(chan struct{})
	defer close(sent)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-sent:
		case <-time.After(hangTime):
			p.kill()
		}
	})()
	return p.asks.Encode(request)
}

// ended ends the process, and says why it gives no answers.
func (p *testProcess) ended(err error) error {
	p.end()
	return fmt.Errorf("%w: %s: %s", err, p.cmd.ProcessState, p.last.Bytes())
}

// end ends the process, which may have been ended before.
func (p *testProcess) end() {
	p.kill()
	for range p.answers {
	}
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Wait()
		p.stderr.End()
	}
}
