package enforcer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// inBackground is a request that starts a background command.
func inBackground(command string, env ...string) bailiff.Request {
	req := request(command)
	req.Args.Background, req.Env = true, env
	return req
}

// about is a request of the process tool.
func about(action, id string, data ...string) bailiff.Request {
	return bailiff.Request{Tool: bailiff.Process, Caller: "hermes", Session: request("").Session,
		Args: bailiff.Args{Action: action, ProcessID: id, Data: strings.Join(data, "")}}
}

// start starts a background command and returns its id and what it is in the fake
// sandbox.
func (b *bench) start(t *testing.T, req bailiff.Request) (string, *job) {
	t.Helper()
	a := b.Execute(t.Context(), req, nil)
	if a.Status != bailiff.Completed || a.ProcessID == "" || a.ExitCode != 0 || len(a.Processes) != 1 {
		t.Fatalf("answer is %+v", a)
	}
	for _, r := range b.fakeBackend.sandboxes() {
		for _, j := range r.living() {
			if j.tag == a.ProcessID {
				return a.ProcessID, j
			}
		}
	}
	t.Fatalf("nothing runs under the id %s", a.ProcessID)
	return "", nil
}

// ended waits until the end of a process is noted.
func (b *bench) ended(t *testing.T, id string) bailiff.ProcessState {
	t.Helper()
	a := b.Execute(t.Context(), about("wait", id), nil)
	if len(a.Processes) != 1 || a.Processes[0].Ended.IsZero() {
		t.Fatalf("answer is %+v", a)
	}
	return a.Processes[0]
}

func TestASessionWorksWithItsBackgroundProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, job := b.start(t, inBackground("serve"))
	ask := func(action string, data ...string) bailiff.Answer {
		return b.Execute(t.Context(), about(action, id, data...), nil)
	}

	job.prints("one\n")
	if a := ask("poll"); a.Status != bailiff.Completed || string(a.Output) != "one\n" || a.Processes[0].Written != 4 {
		t.Errorf("the first poll got %+v", a)
	}
	job.prints("two\n")
	if a := ask("poll"); string(a.Output) != "two\n" {
		t.Errorf("the second poll got %q, want what came since", a.Output)
	}
	if a := ask("log"); string(a.Output) != "one\ntwo\n" {
		t.Errorf("the log is %q", a.Output)
	}
	if a := ask("list"); len(a.Processes) != 1 || a.Processes[0].ID != id || a.Processes[0].Command != "serve" ||
		!a.Processes[0].Ended.IsZero() {
		t.Errorf("listed are %+v", a.Processes)
	}
	ask("write", "y")
	ask("submit", "es")
	if got := string(<-job.input) + string(<-job.input); got != "yes\n" {
		t.Errorf("the process reads %q", got)
	}
	if a := ask("close"); a.Status != bailiff.Completed || !job.closed {
		t.Errorf("closing its input was answered %+v", a)
	}
	if a := ask("write", "more"); a.Status != bailiff.Failed || a.Code != bailiff.CodeProcess {
		t.Errorf("writing to a closed input was answered %+v", a)
	}
	job.prints("three\n")
	job.ends(backends.Exit{Code: 3})
	if a := ask("wait"); a.Status != bailiff.Completed || a.ExitCode != 3 || string(a.Output) != "three\n" ||
		a.Processes[0].Status != bailiff.Completed {
		t.Errorf("waiting was answered %+v", a)
	}
	if a := ask("write", "more"); a.Code != bailiff.CodeProcess || !strings.Contains(a.Message, "has ended: completed, exit code 3.") {
		t.Errorf("writing to the ended process was answered %+v", a)
	}
	if a := ask("log"); string(a.Output) != "one\ntwo\nthree\n" || a.ExitCode != 3 {
		t.Errorf("the log of the ended process is %q", a.Output)
	}
}

func TestWaitingForAProcessEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, _ := b.start(t, inBackground("serve"))
	soon := about("wait", id)
	soon.Args.Timeout = 1
	if a := b.Execute(t.Context(), soon, nil); a.Status != bailiff.Completed || !a.Processes[0].Ended.IsZero() ||
		a.Message != "Process "+id+" is still running." {
		t.Errorf("a wait that was too short was answered %+v", a)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if a := b.Execute(gone, about("wait", id), nil); a.Status != bailiff.Interrupted {
		t.Errorf("a wait whose caller went away was answered %+v", a)
	}
	if a := b.Execute(t.Context(), about("poll", id), nil); !a.Processes[0].Ended.IsZero() {
		t.Error("the process ended with who waited for it")
	}
}

func TestASessionSeesItsOwnProcessesOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Scope = "user" }) })
	id, job := b.start(t, inBackground("serve"))
	for name, change := range map[string]func(*bailiff.Request){
		"another session of the user": func(r *bailiff.Request) { r.Session.ID = "s2" },
		"another user in the session": func(r *bailiff.Request) { r.Session.UserID = "43" },
		"another platform":            func(r *bailiff.Request) { r.Session.Platform = "discord" },
		"another caller":              func(r *bailiff.Request) { r.Caller = "codex" },
		"another id":                  func(r *bailiff.Request) { r.Args.ProcessID = "pxxxxxxxxxx" },
	} {
		for _, action := range []string{"poll", "wait", "log", "write", "submit", "close", "kill"} {
			req := about(action, id)
			change(&req)
			if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.Failed || a.Code != bailiff.CodeProcess {
				t.Errorf("%s: %s was answered %+v", name, action, a)
			}
		}
		list := about("list", "")
		change(&list)
		if a := b.Execute(t.Context(), list, nil); len(a.Processes) > 0 && list.Args.ProcessID == "" {
			t.Errorf("%s: listed are %+v", name, a.Processes)
		}
	}
	if len(job.input) > 0 || job.over {
		t.Error("somebody else reached the process")
	}
}

func TestWhatAProcessRequestIsJudgedAndRecordedLikeAnyOther(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, job := b.start(t, inBackground("serve"))
	b.judge.says(bailiff.Decision{})
	for _, action := range []string{"list", "poll", "write", "kill"} {
		if a := b.Execute(t.Context(), about(action, id), nil); a.Status != bailiff.Refused {
			t.Errorf("a denied %s was answered %+v", action, a)
		}
	}
	if job.over || len(job.input) > 0 {
		t.Error("what was denied happened")
	}
	b.judge.says(allow())
	b.tape.broken = errBoom
	if a := b.Execute(t.Context(), about("kill", id), nil); a.Code != bailiff.CodeRecord || job.over {
		t.Errorf("a kill that could not be recorded was answered %+v", a)
	}
}

func TestAProcessCountsAsUseOfItsSandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.IdleSeconds = 0 }) })
	_, job := b.start(t, inBackground("serve"))
	b.Execute(t.Context(), request("true"), nil)
	if _, err := b.Reap(t.Context()); err != nil {
		t.Fatal(err)
	}
	sandbox := b.fakeBackend.sandboxes()[0]
	select {
	case <-sandbox.done:
		t.Fatal("the sandbox went under the process")
	default:
	}
	job.ends(backends.Exit{})
	awaittest.Value(t, "the end of the unused sandbox", sandbox.done)
	if len(b.fakeBackend.sandboxes()) != 1 {
		t.Errorf("%d sandboxes were made", len(b.fakeBackend.sandboxes()))
	}
}

func TestTheLogOfAProcessOutlivesItWhereverItRan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(b *bench) { b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Scope = "request" }) })
		id, job := b.start(t, inBackground("serve"))
		job.prints("done\n")
		job.ends(backends.Exit{})
		synctest.Wait()
		if a := b.Execute(t.Context(), about("wait", id), nil); string(a.Output) != "done\n" {
			t.Errorf("waiting was answered %+v", a)
		}
		sandbox := b.fakeBackend.sandboxes()[0]
		time.Sleep(time.Hour - time.Second)
		if !sandbox.stands() {
			t.Error("the sandbox went before it was idle for long enough")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if sandbox.stands() {
			t.Error("the sandbox stays")
		}
		if a := b.Execute(t.Context(), about("wait", id), nil); a.Code != bailiff.CodeProcess {
			t.Errorf("once its sandbox was gone the answer is %+v", a)
		}
	})
}

func TestNobodyIsAloneBesideAProcessAndNothingIsKilledForIt(t *testing.T) {
	t.Parallel()
	withToken := func(b *bench) { b.env = environ{"T": "t-12345678"} }
	private, plain := inBackground("serve", "T"), inBackground("serve")
	alone := request("push")
	alone.Env = []string{"T"}
	for name, c := range map[string]struct {
		lives, comes bailiff.Request
		code         string
	}{
		"a command beside a process":                                        {plain, request("ls"), ""},
		"a command with variables beside a process":                         {plain, alone, bailiff.CodeOccupied},
		"a command beside a process with variables":                         {private, request("ls"), bailiff.CodeOccupied},
		"a command with variables beside a process with variables":          {private, alone, bailiff.CodeOccupied},
		"a process beside a process":                                        {plain, plain, ""},
		"a process with variables beside a process":                         {plain, private, bailiff.CodeOccupied},
		"a process beside a process with variables":                         {private, plain, bailiff.CodeOccupied},
		"looking at a process with variables does not mean being beside it": {private, about("list", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, withToken)
			b.judge.decision = allow(forward("T")) // the floor lets in what was requested
			id, job := b.start(t, c.lives)
			a := b.Execute(t.Context(), c.comes, nil)
			if a.Code != c.code {
				t.Errorf("answer is %+v, want code %q", a, c.code)
			}
			if c.code != "" && (a.Status != bailiff.Unavailable || !strings.Contains(a.Message, id)) {
				t.Errorf("answer is %+v, want one that names %s", a, id)
			}
			if job.over {
				t.Error("the process was killed")
			}
			b.Execute(t.Context(), about("kill", id), nil)
			if a := b.Execute(t.Context(), c.comes, nil); a.Status != bailiff.Completed {
				t.Errorf("once it was gone the answer is %+v", a)
			}
		})
	}
}

func TestAProcessInAReplacedSandboxIsStillInTheWay(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.env = environ{"T": "t-12345678"} })
	id, job := b.start(t, inBackground("serve"))
	b.judge.says(allow(forward("T"), func(d *bailiff.Decision) { d.Backend.PIDs = 9 }))
	alone := request("push")
	alone.Env = []string{"T"}
	if a := b.Execute(t.Context(), alone, nil); a.Code != bailiff.CodeOccupied || !strings.Contains(a.Message, id) {
		t.Errorf("answer is %+v", a)
	}
	job.ends(backends.Exit{})
	b.ended(t, id)
	if a := b.Execute(t.Context(), alone, nil); a.Status != bailiff.Completed {
		t.Errorf("answer is %+v", a)
	}
	// It does not stay for the log of an ended process, since one reader must be alone on its files.
	awaittest.Value(t, "the end of the replaced sandbox", b.fakeBackend.sandboxes()[0].done)
}

func TestTheProcessesOfASessionAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(func(d *bailiff.Decision) { d.Limits.Processes = 3 }) })
	var all sync.WaitGroup
	var mu sync.Mutex
	codes := map[string]int{}
	for range 10 {
		all.Go(func() {
			a := b.Execute(context.Background(), inBackground("serve"), nil)
			mu.Lock()
			defer mu.Unlock()
			codes[string(a.Status)+" "+a.Code]++
		})
	}
	all.Wait()
	if codes["completed "] != 3 || codes["unavailable "+bailiff.CodeLimit] != 7 {
		t.Errorf("answered were %v, want three to run", codes)
	}
	other := inBackground("serve")
	other.Session.ID = "s2"
	if a := b.Execute(t.Context(), other, nil); a.Status != bailiff.Completed {
		t.Errorf("another session's was answered %+v", a)
	}
	b.judge.says(allow(ask, func(d *bailiff.Decision) { d.Limits.Processes = 3 }))
	if a := b.Execute(t.Context(), inBackground("serve"), nil); a.Code != bailiff.CodeLimit || len(b.human.asked) > 0 {
		t.Errorf("humans were asked about what could not run: %+v", a)
	}
}

func TestTheOldestEndedProcessesAreForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var ids []string
	for range mostEnded + 3 {
		id, job := b.start(t, inBackground("true"))
		job.ends(backends.Exit{})
		b.ended(t, id)
		ids = append(ids, id)
	}
	sandbox := b.fakeBackend.sandboxes()[0]
	awaittest.Until(t, "forgetting them", func() bool { return len(sandbox.living()) == mostEnded })
	a := b.Execute(t.Context(), about("list", ""), nil)
	if len(a.Processes) != mostEnded || a.Processes[0].ID != ids[3] {
		t.Errorf("%d are listed from %s on, want %d from %s on", len(a.Processes), a.Processes[0].ID, mostEnded, ids[3])
	}
}

func TestTheEndOfAProcessIsRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then   func(*bench, string, *job)
		status bailiff.Status
		code   int
	}{
		"by itself": {func(_ *bench, _ string, j *job) { j.ends(backends.Exit{Code: 7}) }, bailiff.Completed, 7},
		"at its time limit": {func(_ *bench, _ string, j *job) { j.ends(backends.Exit{Code: 137, TimedOut: true}) }, bailiff.TimedOut,
			bailiff.ExitTimeout},
		"having filled its workspace": {func(_ *bench, _ string, j *job) {
			j.ends(backends.Exit{Code: 137, Excess: backends.Excess{Limit: backends.WorkspaceMB, Found: 9, Most: 8, Stopped: true}})
		}, bailiff.Interrupted, bailiff.ExitInterrupted},
		"lost": {func(_ *bench, _ string, j *job) { j.ends(backends.Exit{Lost: true}) }, bailiff.Failed, bailiff.ExitFailed},
		"killed": {func(b *bench, id string, _ *job) { b.Execute(context.Background(), about("kill", id), nil) },
			bailiff.Interrupted, bailiff.ExitInterrupted},
		"its sandbox goes": {func(b *bench, _ string, _ *job) { b.RemoveSandbox("sandbox-1") }, bailiff.Interrupted,
			bailiff.ExitInterrupted},
		"its session ends": {func(b *bench, _ string, _ *job) { _, _ = b.EndSession(context.Background(), "hermes", "s1") },
			bailiff.Interrupted, bailiff.ExitInterrupted},
		"the sidecar stops": {func(b *bench, _ string, _ *job) { b.Close(context.Background()) }, bailiff.Interrupted,
			bailiff.ExitInterrupted},
		"an operator halts": {func(b *bench, _ string, _ *job) {
			_ = b.Halt(context.Background(), func(bailiff.Session) bool { return true })
		}, bailiff.Interrupted, bailiff.ExitInterrupted},
		"its sandbox failed": {func(b *bench, _ string, _ *job) { _ = b.fakeBackend.sandboxes()[0].Close(context.Background()) },
			bailiff.Failed,
			bailiff.ExitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			a := b.Execute(t.Context(), inBackground("serve"), nil)
			c.then(b, a.ProcessID, b.fakeBackend.sandboxes()[0].living()[0])
			var e api.Event
			awaittest.Until(t, "recording its end", func() bool {
				events := b.tape.all()
				at := slices.IndexFunc(events, func(e api.Event) bool {
					return e.Custom.Event == api.ExecutionEvent && e.DecisionID == a.DecisionID &&
						strings.Contains(e.Custom.Message, "ended")
				})
				if at >= 0 {
					e = events[at]
				}
				return at >= 0
			})
			if e.Custom.Status != c.status || *e.Custom.ExitCode != c.code || e.Custom.Session != "s1" ||
				e.Custom.SandboxID != "sandbox-1" || e.RequestedBy != "hermes" || e.Custom.RequestID != "" {
				t.Errorf("recorded is %+v with exit code %d", e.Custom, *e.Custom.ExitCode)
			}
		})
	}
}

func TestTheEndOfASessionStopsWhatItRunsInAUsersSandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Scope = "user" }) })
	_, mine := b.start(t, inBackground("serve"))
	other := inBackground("serve")
	other.Session.ID = "s2"
	_, theirs := b.start(t, other)
	if _, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil {
		t.Fatal(err)
	}
	if !mine.over || theirs.over || len(b.fakeBackend.sandboxes()) != 1 {
		t.Errorf("over is %v, the other session's %v", mine.over, theirs.over)
	}
}

func TestABackgroundProcessRunsAsLongAsIsAskedAndAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asked, allowed int
		want           time.Duration
	}{{0, 0, 0}, {5, 0, 5 * time.Second}, {0, 60, time.Minute}, {5, 60, 5 * time.Second}, {90, 60, time.Minute}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			b := newBench(t, func(b *bench) {
				b.judge.decision = allow(func(d *bailiff.Decision) { d.Limits.BackgroundSeconds = c.allowed })
			})
			req := inBackground("serve")
			req.Args.Timeout = c.asked
			if _, job := b.start(t, req); job.cmd.Timeout != c.want {
				t.Errorf("it may run for %s, want %s", job.cmd.Timeout, c.want)
			}
		})
	}
}

func TestABackgroundCommandThatCannotStartIsKnownToNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.fakeBackend.full = true })
	if a := b.Execute(t.Context(), inBackground("serve"), nil); a.Status != bailiff.Unavailable || a.ProcessID != "" {
		t.Errorf("answer is %+v", a)
	}
	if a := b.Execute(t.Context(), about("list", ""), nil); len(a.Processes) != 0 {
		t.Errorf("listed are %+v", a.Processes)
	}
}

func TestWhoeverGoesAwayBeforeTheyLearnOfAProcessLeavesNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Execute(t.Context(), request("true"), nil)
	ctx, leave := context.WithCancel(t.Context())
	b.fakeBackend.starting = leave
	if a := b.Execute(ctx, inBackground("serve"), nil); a.Status != bailiff.Interrupted {
		t.Errorf("answer is %+v", a)
	}
	if jobs := b.fakeBackend.sandboxes()[0].living(); len(jobs) != 1 || !jobs[0].over {
		t.Errorf("%d jobs are left", len(jobs))
	}
}

func TestASessionHasNoMoreThan64RequestsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		id, job := b.start(t, inBackground("serve"))
		var waits sync.WaitGroup
		for range 64 {
			waits.Go(func() {
				if a := b.Execute(t.Context(), about("wait", id), nil); a.Status != bailiff.Completed {
					t.Errorf("answer is %+v", a)
				}
			})
		}
		synctest.Wait()
		if a := b.Execute(t.Context(), about("kill", id), nil); a.Status != bailiff.Unavailable || a.Code != bailiff.CodeBusy {
			t.Errorf("one more was answered %+v", a)
		}
		other := request("ls")
		other.Session.ID = "s2"
		if a := b.Execute(t.Context(), other, nil); a.Status != bailiff.Completed {
			t.Errorf("another session was answered %+v", a)
		}
		job.ends(backends.Exit{})
		waits.Wait()
		if a := b.Execute(t.Context(), request("ls"), nil); a.Status != bailiff.Completed {
			t.Errorf("once they were answered, one was answered %+v", a)
		}
		b.Close(t.Context())
	})
}

func TestTheEndOfASessionSaysWhatItStopped(t *testing.T) {
	t.Parallel()
	for scope, want := range map[string]bailiff.Ended{"session": {Sandboxes: 1, Processes: 2}, "user": {Processes: 2}} {
		t.Run(scope, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Scope = scope }) })
			id, job := b.start(t, inBackground("short"))
			job.ends(backends.Exit{})
			b.ended(t, id)
			b.start(t, inBackground("one"))
			b.start(t, inBackground("two"))
			if got, err := b.EndSession(t.Context(), "hermes", "s1"); got != want || err != nil {
				t.Errorf("ended are %+v, %v, want %+v", got, err, want)
			}
		})
	}
}
