// Bailiff-hook is the small program that an agent's client starts before every tool
// call: it reads the client's question, asks the sidecar once what it would decide,
// and answers as that client wants to be answered.
//
// It enforces nothing itself. A command is allowed in one form only, as an order to
// "bailiff exec", which has it judged again, waits for those who must approve it, and
// runs it in its sandbox. What the client does by itself on this machine (reading
// and writing files, fetching) is judged as the command that does the same: in the
// sandbox for files of a folder that it shows as it is, and else on the host. It is
// allowed if the policies allow that command there. A tool that no table knows is
// denied.
//
// Each failure denies: the zero value of everything that is said here does, and
// each answer says no in the client's own words, on standard error and by the exit
// status at once. The deadline holds for all of it, reading included.
//
// A client is a dialect, a package hook in the folder of its agent (internal/agents):
// which tools it has, what they mean and how an answer is put. The rest knows no client.
// As "bailiff-hook mcp" the program is the end of a connection to an MCP server, which the
// sidecar starts and judges: it carries lines, and knows nothing of them.
//
// There is no configuration file and no policy engine here, for the program starts once
// for every tool call.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

func main() {
	// A client would let the tool run if this program were ended.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run answers one question and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if isHelp(args) {
		fmt.Fprint(stdout, help())
		return 0
	}
	if len(args) > 0 && args[0] == "mcp" {
		signal.Reset() // its client ends it, and nothing runs by that
		return speakMCP(args[1:], stdin, stdout, stderr)
	}
	p, err := parse(args)
	if err != nil && p.client == nil {
		fmt.Fprintf(stderr, "bailiff-hook: %v\n", err)
		return hook.Refused
	}
	if err != nil {
		return p.client.Answer(hook.Call{}, hook.Denial(err)).Write(stdout, stderr)
	}
	return p.answer(context.Background(), stdin).Write(stdout, stderr)
}

// answer judges within the deadline.
func (p program) answer(ctx context.Context, stdin io.Reader) hook.Reply {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	replies := make(chan hook.Reply, 1)
	go func() { replies <- p.guarded(ctx, stdin) }()
	select {
	case r := <-replies:
		return r
	case <-ctx.Done():
		return p.client.Answer(hook.Call{}, hook.Denial(p.late()))
	}
}

// guarded judges and turns every fault into a denial.
func (p program) guarded(ctx context.Context, stdin io.Reader) (r hook.Reply) {
	defer func() {
		if fault := recover(); fault != nil {
			r = p.client.Answer(hook.Call{}, hook.Denial(fmt.Errorf("judging the tool call: bailiff-hook failed: %v", fault)))
		}
	}()
	text, err := readAll(stdin)
	if err != nil {
		return p.client.Answer(hook.Call{}, hook.Denial(err))
	}
	c, err := p.client.Read(text)
	if err != nil {
		return p.client.Answer(hook.Call{}, hook.Denial(err))
	}
	v, err := p.judge(ctx, c)
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = p.late()
		}
		v = hook.Denial(err)
	}
	return p.client.Answer(c, v)
}

func (p program) late() error { return fmt.Errorf("giving up after %v (--timeout)", p.timeout) }

// longest bounds what is read of a client: a tool call holds whole files.
const longest = 64 << 20

func readAll(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, longest+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the tool call: %w", err)
	case len(text) > longest:
		return nil, fmt.Errorf("reading the tool call: it is longer than %d MiB", longest>>20)
	case len(text) == 0:
		return nil, errors.New("reading the tool call: standard input is empty, and the client should have written it there")
	}
	return text, nil
}
