package backendtest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/kernel"
)

// interpreterChecks are those of scripts in an interpreter that lives on.
func interpreterChecks() []check {
	return []check{
		promise("An interpreter keeps what scripts set, and carries what they call", onRunner, interpreterLives),
		promise("A script that is stopped leaves its interpreter and nothing else", onRunner, interpreterStops),
		promise("An interpreter ends with all that its scripts started", onRunner, interpreterEnds),
	}
}

func (b box) interpreter() *kernel.Kernel {
	b.t.Helper()
	k, err := kernel.Start(context.Background(), b, nil)
	if err != nil {
		b.t.Fatalf("starting an interpreter: %v", err)
	}
	b.t.Cleanup(func() {
		if err := k.End(context.Background()); err != nil {
			b.t.Errorf("ending an interpreter: %v", err)
		}
	})
	return k
}

// script runs a script whose calls are answered with their arguments.
func (b box) script(k *kernel.Kernel, code string, timeout time.Duration) (kernel.Exit, string) {
	b.t.Helper()
	var out strings.Builder
	exit, err := k.Run(context.Background(), kernel.Script{Code: code, Timeout: timeout, HeadBytes: 1 << 20, Tools: []string{"echo"}},
		func(p []byte) { out.Write(p) },
		func(_ context.Context, c kernel.Call) kernel.Result {
			return kernel.Result{Value: json.RawMessage(c.Arguments)}
		})
	if err != nil {
		b.t.Fatalf("running %.60q: %v", code, err)
	}
	return exit, out.String()
}

func interpreterLives(t *testing.T, b box) {
	k := b.interpreter()
	b.script(k, "import os, bailiff_tools\nos.chdir('/usr')\nx = 41", time.Minute)
	exit, out := b.script(k, "print(x + 1, os.getcwd() != '/usr', bailiff_tools.echo(y='ä')); 1 / 0", time.Minute)
	if !strings.HasPrefix(out, "42 True {'y': 'ä'}\nTraceback ") || !strings.HasSuffix(out, "ZeroDivisionError: division by zero\n") ||
		exit.Code != 1 || exit.Calls != 1 || exit.Ended || !exit.InWorkspace {
		t.Errorf("it ended as %+v and printed %q", exit, out)
	}
}

func interpreterStops(t *testing.T, b box) {
	k := b.interpreter()
	other := b.start("echo here; exec sleep " + marker())
	b.script(k, "x = 42", time.Minute)
	m := marker()
	exit, out := b.script(k, "import subprocess\nsubprocess.run("+literal(scatter(m)+"sleep "+m)+", shell=True)", time.Second)
	if !exit.TimedOut || exit.Ended {
		t.Errorf("it ended as %+v and printed %q", exit, out)
	}
	b.nothingLeft(t, m)
	if exit, out := b.script(k, "print(x)", time.Minute); out != "42\n" {
		t.Errorf("afterwards a script ended as %+v and printed %q", exit, out)
	}
	select {
	case <-other.Done():
		t.Error("another command ended with it")
	default:
	}
}

func interpreterEnds(t *testing.T, b box) {
	k := b.interpreter()
	m := marker()
	b.script(k, "import subprocess\nsubprocess.run("+literal(scatter(m))+", shell=True)", time.Minute)
	if len(b.marked(m)) < scattered {
		t.Errorf("of what a script started %v are left", b.marked(m))
	}
	Must(t, k.End(context.Background()))
	b.nothingLeft(t, m)
}

// literal spells a text as Python does.
func literal(text string) string {
	spelt, err := json.Marshal(text)
	if err != nil {
		panic(err) // of a string: cannot fail
	}
	return string(spelt)
}
