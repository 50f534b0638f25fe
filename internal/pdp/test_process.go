package pdp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/internal/headtail"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
)

// warmTime is how long the process that runs tests stays after it ran some: the next save of who is writing rules is near.
const warmTime = 5 * time.Minute

// testSite has a process run tests. It is safe for concurrent use.
type testSite struct {
	command func(context.Context) *exec.Cmd
	known   *passes.Memory

	mu      sync.Mutex // one run at a time
	process *testProcess
	idle    *time.Timer
}

// run runs the tests of files. The end of ctx stops the process, and with it what it was at.
func (t *testSite) run(ctx context.Context, files []file) ([]passes.Key, Faults) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle != nil {
		t.idle.Stop()
	}
	answer, err := t.ask(ctx, files)
	if err != nil {
		t.end()
		return nil, Faults{{Message: fmt.Sprintf("the tests of the policies could not be run: %v", err)}}
	}
	t.idle = time.AfterFunc(warmTime, t.close)
	return answer.Passed, answer.Faults
}

// ask asks the process that is there. One that has gone since it answered last is replaced.
func (t *testSite) ask(ctx context.Context, files []file) (answer testAnswer, err error) {
	if t.process != nil {
		if answer, err = t.process.ask(ctx, files); err == nil || ctx.Err() != nil {
			return answer, err
		}
		t.end()
	}
	if t.process, err = startTests(t.command, t.known); err != nil {
		return answer, err
	}
	return t.process.ask(ctx, files)
}

func (t *testSite) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end()
}

func (t *testSite) end() {
	if t.process != nil {
		t.process.end()
		t.process = nil
	}
}

// testProcess is a process that serves tests, see [ServeTests].
type testProcess struct {
	cmd     *exec.Cmd
	kill    context.CancelFunc
	asks    *json.Encoder
	answers *json.Decoder
	told    *headtail.Writer // the end of its messages
	message bytes.Buffer     // what told hands on at the end
	sent    map[passes.Key]bool
	passed  []passes.Key // to be told with the first request
}

// maxTold bounds what of the program's messages stands in a fault.
const maxTold = 1 << 10

func startTests(command func(context.Context) *exec.Cmd, known *passes.Memory) (*testProcess, error) {
	ctx, kill := context.WithCancel(context.Background())
	p := &testProcess{cmd: command(ctx), kill: kill, passed: known.All(), sent: map[passes.Key]bool{}}
	p.told = &headtail.Writer{Tail: maxTold, Emit: func(part []byte) { _, _ = p.message.Write(part) }}
	p.cmd.Env, p.cmd.WaitDelay, p.cmd.Stderr = []string{}, time.Second, p.told
	in, err := p.cmd.StdinPipe() // what stays open says that this process lives
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.asks, p.answers = json.NewEncoder(in), json.NewDecoder(out)
	return p, p.cmd.Start()
}

// ask sends what was not sent before, and awaits the answer.
func (p *testProcess) ask(ctx context.Context, files []file) (answer testAnswer, err error) {
	defer context.AfterFunc(ctx, p.kill)()
	request := testRequest{Files: make([]sentFile, len(files)), Passed: p.passed}
	sent := map[passes.Key]bool{}
	for i, f := range files {
		one := sentFile{Name: f.name, Place: f.place, Archive: f.archive, Digest: sha256.Sum256(f.text)}
		if !p.sent[one.Digest] {
			one.Text = append([]byte{}, f.text...)
		}
		request.Files[i], sent[one.Digest] = one, true
	}
	if err = p.asks.Encode(request); err == nil {
		err = p.answers.Decode(&answer)
	}
	if err != nil {
		p.end()
		return answer, fmt.Errorf("%w: %s: %s", err, p.cmd.ProcessState, p.message.Bytes())
	}
	p.sent, p.passed = sent, nil
	return answer, nil
}

// end ends the process.
func (p *testProcess) end() {
	p.kill()
	if p.cmd.Wait() == nil || p.cmd.ProcessState != nil {
		p.told.End()
	}
}
