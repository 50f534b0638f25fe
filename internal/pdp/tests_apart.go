package pdp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/bailiff-dev/bailiff/internal/history"
)

// The tests of policies take many times the memory of the policies, and what they leave lies between what stays. A sidecar
// therefore has a process of its own run them, which is given the files as they were read: they may differ on the disk since.

// ServeTests runs the tests of the files that are read, until the reader ends, and writes what is wrong.
func ServeTests(ctx context.Context, in io.Reader, out io.Writer) error {
	var files []history.File
	if err := json.NewDecoder(in).Decode(&files); err != nil {
		return fmt.Errorf("reading policies: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel() // there is no sidecar that would read on
	}()
	p, faults := parse(asRead(files))
	if len(faults) == 0 {
		faults = p.runTests(ctx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(append(Faults{}, faults...))
}

// runTestsBy has a program run the tests, which answers as [ServeTests].
func (p *parsed) runTestsBy(program func(context.Context) *exec.Cmd) func(context.Context) Faults {
	return func(ctx context.Context) Faults {
		faults, err := p.askTests(program(ctx))
		if err != nil {
			return Faults{{Message: fmt.Sprintf("the tests of the policies could not be run: %v", err)}}
		}
		return faults
	}
}

// maxTold bounds the end of the program's messages that stands in a fault.
const maxTold = 1 << 10

func (p *parsed) askTests(cmd *exec.Cmd) (faults Faults, err error) {
	files, err := json.Marshal(asKept(p.files))
	if err != nil {
		return nil, err
	}
	cmd.Env, cmd.WaitDelay = []string{}, time.Second
	var answer, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &answer, &told
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, unsent := in.Write(files) // what stays open says that this process lives
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, told.Bytes()[max(0, told.Len()-maxTold):])
	}
	if unsent != nil {
		return nil, unsent
	}
	if err := json.Unmarshal(answer.Bytes(), &faults); err != nil || faults == nil {
		return nil, fmt.Errorf("they were answered by %q", answer.Bytes()[:min(answer.Len(), maxTold)])
	}
	return faults, nil
}
