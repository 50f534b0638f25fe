package backendtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

func treeChecks() []check {
	return []check{
		promise("A timeout kills all that the command started", OnPlace|OnUser, timeouts),
		promise("The end of the context kills all that the command started", OnPlace, interrupts),
		promise("A command may be given up at any moment", onRunner, givenUp),
		promise("What a command leaves behind is counted and can be ended", OnPlace|OnUser, leftovers),
		promise("A reaped command leaves nothing behind", onRunner, reaped),
		promise("Leftovers that hold the output open hold up nothing", onRunner, heldOutput),
		promise("One command's end leaves another's processes alone", OnPlace, separate),
		promise("A timeout leaves other commands and what they left behind alone", onRunner, timeoutBeside),
		promise("Killing or stopping its supervisor helps no command", OnPlace|OnUser, attacksOnSupervisor),
		promise("Commands can gain no privileges", OnPlace|OnUser, privileges),
	}
}

// scatter starts processes in every way that might get them away.
func scatter(marker string) string {
	return strings.ReplaceAll(`
sleep % &
setsid sleep % &
(setsid setsid sleep % &)
nohup sleep % >/dev/null 2>&1 &
python3 -c '
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 1024)
        os.execvp("sleep", ["sleep", "%"])
    os._exit(0)
os.wait()'
bash -c 'trap "" TERM INT HUP; while :; do sleep 0.01 %; done' &
`, "%", marker)
}

const scattered = 5 // at least: the sixth comes and goes

func timeouts(t *testing.T, b box) {
	for _, last := range []string{"sleep %", "trap '' TERM; while :; do :; done", "setsid --wait sleep %", "kill -STOP $$",
		"exec cat /dev/zero"} {
		t.Run(last, func(t *testing.T) {
			m := marker()
			cmd := shell(scatter(m) + strings.ReplaceAll(last, "%", m))
			cmd.Timeout = 250 * time.Millisecond
			exit, _ := b.run(cmd)
			if !exit.TimedOut || exit.Interrupted || exit.Code != 124 {
				t.Errorf("ended as %+v", exit)
			}
			b.nothingLeft(t, m)
		})
	}
}

func (b box) nothingLeft(t *testing.T, marker string) {
	t.Helper()
	if pids := b.marked(marker); len(pids) > 0 {
		t.Errorf("processes %v are left", pids)
	}
	b.noneAlive()
}

func interrupts(t *testing.T, b box) {
	m := marker()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	exit, err := b.Run(ctx, shell(scatter(m)+"echo ready; sleep "+m), func([]byte) { cancel() })
	if err != nil || !exit.Interrupted || exit.TimedOut || exit.Code != 130 {
		t.Errorf("ended as %+v, %v", exit, err)
	}
	b.nothingLeft(t, m)
}

// givenUp ends the context of commands while they are on their way, start, and run.
func givenUp(t *testing.T, b box) {
	for i := range 24 {
		m := marker()
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i*i)*100*time.Microsecond)
		exit, err := b.Run(ctx, shell(scatter(m)+"sleep "+m), func([]byte) {})
		cancel()
		unstarted := errors.Is(err, backends.ErrNotStarted) && errors.Is(err, context.DeadlineExceeded)
		if !unstarted && (err != nil || !exit.Interrupted || exit.Code != 130) {
			t.Fatalf("given up after %d00 µs, it ended as %+v, %v", i*i, exit, err)
		}
		b.nothingLeft(t, m)
	}
}

func leftovers(t *testing.T, b box) {
	m := marker()
	if exit, out := b.run(shell(scatter(m) + "exit 3")); exit.Code != 3 {
		t.Errorf("ended as %+v (%s)", exit, out)
	}
	if b.alive() == 0 {
		t.Error("nothing is counted at once")
	}
	Await(t, "all that is left is seen and counted", func() bool { return len(b.marked(m)) >= scattered && b.alive() >= scattered })
	NoError(t, b.Kill(context.Background()))
	b.nothingLeft(t, m)
	b.run(shell("sleep 0.05 & disown"))
	Await(t, "a leftover that ends by itself is counted no more", func() bool { return b.alive() == 0 })
}

func reaped(t *testing.T, b box) {
	m := marker()
	cmd := shell(scatter(m) + "echo done; exit 3")
	cmd.Reap = true
	if exit, out := b.run(cmd); exit.Code != 3 || exit.Interrupted || out != "done\n" {
		t.Errorf("said %q and ended as %+v", out, exit)
	}
	b.nothingLeft(t, m)
}

func heldOutput(t *testing.T, b box) {
	flag := "/tmp/flag" + marker()
	// What it says is first, else it could be what is cut out of so much output.
	cmd := shell("(until [[ -e " + flag + " ]]; do :; done; yes | head -c 10000000; rm " + flag + "; sleep " + marker() +
		") & echo started; touch " + flag)
	if _, out := b.run(cmd); !strings.Contains(out, "started\n") {
		t.Errorf("said %.100q", out)
	}
	Await(t, "the leftover has written all it wants", func() bool {
		exit, _ := b.run(shell("[[ ! -e " + flag + " ]]"))
		return exit.Code == 0
	})
	NoError(t, b.Kill(context.Background()))
	// A runner listens on for a moment by the clock, in which a busy machine may not have started the leftover.
	Await(t, "what a leftover writes at once is heard", func() bool {
		_, out := b.run(shell(`echo early; { sleep 0.01; echo late; } > >(cat)`))
		return out == "early\nlate\n"
	})
	Await(t, "nothing is left", func() bool { return b.alive() == 0 })
}

func separate(t *testing.T, b box) {
	kept, killed := marker(), marker()
	b.run(argv("sh", "-c", "setsid sleep "+kept+" >/dev/null 2>&1 &"))
	Await(t, "the leftover is there", func() bool { return len(b.marked(kept)) == 1 && b.alive() == 1 })
	cmd := shell(scatter(killed))
	cmd.Reap = true
	b.run(cmd)
	if len(b.marked(killed)) != 0 || len(b.marked(kept)) != 1 || b.alive() != 1 {
		t.Errorf("%d of the one's processes and %d of the other's are left, %d counted, want 0, 1, 1", len(b.marked(killed)),
			len(b.marked(kept)), b.alive())
	}
	NoError(t, b.Kill(context.Background()))
	b.nothingLeft(t, kept)
}

func timeoutBeside(t *testing.T, b box) {
	kept, killed := marker(), marker()
	b.run(shell("setsid sleep " + kept + " >/dev/null 2>&1 &"))
	Await(t, "the leftover is there", func() bool { return len(b.marked(kept)) == 1 })
	end := b.beside(t)
	cmd := shell(scatter(killed) + "sleep " + killed)
	cmd.Timeout = 400 * time.Millisecond
	if exit, _ := b.run(cmd); !exit.TimedOut {
		t.Errorf("ended as %+v", exit)
	}
	if len(b.marked(killed)) != 0 || len(b.marked(kept)) != 1 {
		t.Errorf("%d of the one's processes and %d of the other's are left, want 0 and 1", len(b.marked(killed)), len(b.marked(kept)))
	}
	end()
	NoError(t, b.Kill(context.Background()))
	b.nothingLeft(t, kept)
}

func attacksOnSupervisor(t *testing.T, b box) {
	m := marker()
	exit, _ := b.run(shell(scatter(m) + "kill -9 $PPID; sleep " + m))
	if exit.Code != 137 || !exit.Lost {
		t.Errorf("having killed its supervisor, it ended as %+v", exit)
	}
	b.nothingLeft(t, m)
	cmd := shell(scatter(m) + "while :; do kill -STOP $PPID; done")
	cmd.Timeout = 300 * time.Millisecond
	if exit, _ := b.run(cmd); !exit.TimedOut {
		t.Errorf("stopping its supervisor all the time, it ended as %+v", exit)
	}
	b.nothingLeft(t, m)
	b.says("kill -STOP $PPID; echo still here", "still here\n")
	b.says("kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID; kill -USR1 $PPID; echo still here", "still here\n")
	b.says("trap -p; exec bash -c 'trap -p'", "")
}

func privileges(t *testing.T, b box) {
	b.says("grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1\n")
	b.says("ulimit -c", "0\n")
}
