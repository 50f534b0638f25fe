package approval

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// points are between which a crash must lose nothing.
var points = []string{"staged", "committed", "shown", "told", "recorded"}

// TestMain runs a book for the tests that kill it.
func TestMain(m *testing.M) {
	if dir := os.Getenv("APPROVAL_CRASH_DIR"); dir != "" {
		if err := live(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// notes is a file in which every line is on disk before the next step. A line
// that was cut off by a kill does not end like one.
type notes struct {
	mu   sync.Mutex
	file *os.File
}

func openNotes(path string) (*notes, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_SYNC, 0o600)
	if err == nil {
		_, err = file.WriteString("\n")
	}
	return &notes{file: file}, err
}

const lineEnd = " ."

func (n *notes) say(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, err := fmt.Fprintf(n.file, format+lineEnd+"\n", args...); err != nil {
		panic(err)
	}
}

// Record makes the notes a decision log.
func (n *notes) Record(_ context.Context, e api.Event) error {
	text, err := json.Marshal(e)
	n.say("%s", text)
	return err
}

// live does at random whatever can be done with a book, from several sides,
// noting what was acknowledged, until it is killed.
func live(dir string) error {
	said, err := openNotes(filepath.Join(dir, "said"))
	if err != nil {
		return err
	}
	log, err := openNotes(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	c := configIn(dir)
	if err := c.inCrash(); err != nil {
		return err
	}
	c.Recorder, c.Caps = log, Caps{Caller: 100, Session: 100, User: 100}
	c.reached = killAt(os.Getenv("APPROVAL_CRASH_AT"))
	b, err := Open(c)
	if err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString("open\n"); err != nil {
		return err
	}
	l := &liver{b, said, os.Getenv("APPROVAL_CRASH_RUN")}
	for side := range 3 {
		go func() {
			for n := 0; ; n++ {
				l.act(fmt.Sprint(os.Getenv(crashReplica), "s", side), n)
				l.race()
			}
		}()
	}
	select {}
}

// killAt ends this process, as nothing else could, when a point is reached for
// the n-th time.
func killAt(when string) func(string) {
	at, count, _ := strings.Cut(when, " ")
	left, _ := strconv.Atoi(count)
	var mu sync.Mutex
	return func(point string) {
		mu.Lock()
		defer mu.Unlock()
		if point != at {
			return
		}
		if left--; left < 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}

type liver struct {
	*Book
	said *notes
	run  string
}

// act is one life of an approval in a session.
func (l *liver) act(session string, n int) {
	ctx := context.Background()
	c := claim(fmt.Sprintf("rm %s %s %d", l.run, session, n), fmt.Sprint("m", rand.IntN(3)))
	c.Request.Session.ID = session
	a, err := l.Ask(ctx, c)
	if err != nil || a.State != bailiff.ApprovalPending {
		l.rest(session)
		return
	}
	l.said.say("asked %s", a.ID)
	scope := []string{"once", "once", "once", "session", "no"}[rand.IntN(5)]
	e, err := l.Answer(ctx, a.ID, by("ana"), bailiff.Verdict{Approve: scope != "no", Scope: scope})
	if err != nil {
		return
	}
	l.said.say("answered %s %s", a.ID, e.State)
	switch rand.IntN(6) {
	case 0:
		if l.Void(ctx, a.ID, "drift") == nil {
			l.said.say("void %s %s", a.ID, e.GrantID)
		}
	case 1:
		if _, err := l.Revoke(ctx, e.GrantID, by("ben")); err == nil {
			l.said.say("revoked %s", e.GrantID)
		}
	default:
		for range 2 {
			if used, granted, err := l.Redeem(ctx, c); err == nil && granted && used.Scope == bailiff.ScopeOnce {
				l.said.say("ran %s", used.ID)
			}
		}
	}
	l.rest(session)
}

// race asks for what other workers ask for too, and uses what any of them has granted.
func (l *liver) race() {
	if os.Getenv(crashDSN) == "" {
		return
	}
	ctx := context.Background()
	c := claim(fmt.Sprint("rm raced ", rand.IntN(3)), "x")
	a, err := l.Ask(ctx, c)
	if err != nil {
		return
	}
	if a.State == bailiff.ApprovalPending {
		_, _ = l.Answer(ctx, a.ID, by("ana"), bailiff.Verdict{Approve: true, Scope: "once"})
	}
	if used, granted, err := l.Redeem(ctx, c); err == nil && granted {
		l.said.say("ran %s", used.ID)
	}
}

// rest freezes or thaws now and then, so that sessions do not end up in grants.
func (l *liver) rest(session string) {
	switch rand.IntN(8) {
	case 0:
		if _, err := l.Freeze(context.Background(), api.Freeze{Kind: "session", ID: session, By: "ben"}); err == nil {
			l.said.say("frozen %s", session)
		}
		fallthrough
	case 1:
		l.said.say("thawing %s", session)
		if _, err := l.Thaw(context.Background(), "session", session, by("ben")); err == nil {
			l.said.say("thawed %s", session)
		}
	}
}

func TestAKilledBookKeepsEveryPromise(t *testing.T) {
	// The first book is full, so that it forgets; the others are not, since the more a book holds the longer each
	// start takes.
	lives := append([]int{backendtest.Rounds(40, 250)}, slices.Repeat([]int{50}, backendtest.Rounds(1, 15))...)
	if testing.Short() {
		lives = []int{24}
	}
	for lane, kills := range lives {
		t.Run(fmt.Sprint("lane ", lane), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if lane == 0 {
				full(t, dir)
			}
			for n := range kills {
				when := ""
				if n%2 == 0 {
					when = fmt.Sprintf("%s %d", points[n/2%len(points)], rand.IntN(12))
				}
				killed(t, dir, strconv.Itoa(n), when)
				if n%25 == 24 {
					checkPromises(t, dir)
				}
			}
			asked, ran := checkPromises(t, dir)
			t.Logf("%d approvals were asked for, %d grants ran", asked, ran)
		})
	}
}

// full has the book in a folder hold as many approvals as it keeps.
func full(t *testing.T, dir string) {
	t.Helper()
	f := &fixture{t: t, config: configIn(dir)}
	f.start()
	f.floodUnanswerable(state.KeepResolved)
	must(t, f.Close())
}

// killed runs a book and kills it: at a point if one is given, else at any time,
// now and then while it opens.
func killed(t *testing.T, dir, run, when string, env ...string) {
	t.Helper()
	ctx := awaittest.Context(t)
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), "APPROVAL_CRASH_DIR="+dir, "APPROVAL_CRASH_RUN="+run, "APPROVAL_CRASH_AT="+when)
	child.Env = append(child.Env, env...)
	var errs strings.Builder
	child.Stderr = &errs
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	must(t, err)
	if when == "" {
		if rand.IntN(4) > 0 {
			_, _ = bufio.NewReader(out).ReadString('\n')
		}
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		_ = child.Process.Kill()
	}
	_ = child.Wait()
	if status, _ := child.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL || ctx.Err() != nil ||
		errs.Len() > 0 {
		t.Fatalf("it ended by itself: %s: %s", child.ProcessState, errs.String())
	}
}

// checkPromises holds what the book says against what was acknowledged.
func checkPromises(t *testing.T, dir string) (asked, ran int) {
	t.Helper()
	c := configIn(dir)
	log, err := openNotes(filepath.Join(dir, "log"))
	must(t, err)
	c.Recorder = log
	b, err := Open(c)
	must(t, err)
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		checkLog(t, dir)
	}()
	entries, _ := b.List(api.Query{Limit: 2 * state.KeepResolved})
	p := &promises{t: t, b: b, full: len(entries) >= state.KeepResolved, grants: map[string]bool{}, ran: map[string]int{},
		frozen: map[string]bool{}}
	for _, g := range b.Grants() {
		p.grants[g.ID] = true
	}
	for _, line := range linesOf(t, filepath.Join(dir, "said")) {
		p.check(strings.Fields(line))
	}
	for session, frozen := range p.frozen {
		if _, is := b.Frozen(bailiff.Session{ID: session}); frozen && !is {
			t.Errorf("the freeze of %s is lost", session)
		}
	}
	return p.asked, len(p.ran)
}

type promises struct {
	t      *testing.T
	b      *Book
	full   bool // so that old approvals were forgotten
	grants map[string]bool
	asked  int
	ran    map[string]int
	frozen map[string]bool
}

func (p *promises) check(said []string) {
	what, id := said[0], said[1]
	e, kept := p.b.Get(id)
	switch what {
	case "asked":
		if p.asked++; !kept && !p.full {
			p.t.Errorf("approval %s is lost", id)
		}
	case "answered":
		if void := e.State == bailiff.ApprovalVoid; kept && !void && string(e.State) != said[2] {
			p.t.Errorf("approval %s was %s, and is %s", id, said[2], e.State)
		}
	case "ran":
		if p.ran[id]++; p.ran[id] > 1 {
			p.t.Errorf("the grant of %s ran %d times", id, p.ran[id])
		}
		p.gone(e.GrantID)
	case "void":
		p.gone(said[2])
	case "revoked":
		p.gone(id)
	case "frozen":
		p.frozen[id] = true
	case "thawing", "thawed":
		p.frozen[id] = false
	}
}

func (p *promises) gone(grant string) {
	if p.grants[grant] {
		p.t.Errorf("grant %s is back", grant)
	}
}

// checkLog checks that the decision log tells of all that was acknowledged.
func checkLog(t *testing.T, dir string) {
	t.Helper()
	logged := stepsIn(t, filepath.Join(dir, "log"))
	for _, line := range linesOf(t, filepath.Join(dir, "said")) {
		wantLogged(t, line, logged)
	}
}

// stepsIn are the steps of approvals in a decision log.
func stepsIn(t *testing.T, path string) map[string]bool {
	t.Helper()
	logged := map[string]bool{}
	for _, line := range linesOf(t, path) {
		var e state.Outgoing
		if err := e.UnmarshalJSON([]byte(line)); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		step, _, _ := strings.Cut(e.Custom.Message, ":")
		logged[step+" "+approvalID(api.Event(e))] = true
	}
	return logged
}

// wantLogged wants the step that a line acknowledges to be in a log.
func wantLogged(t *testing.T, line string, logged map[string]bool) {
	t.Helper()
	said := strings.Fields(line)
	want := said[0]
	switch said[0] {
	case "answered":
		want = said[2]
	case "ran":
		want = "redeemed"
	case "asked", "void":
	default:
		return
	}
	if !logged[want+" "+said[1]] {
		t.Errorf("%q is not in the decision log", line)
	}
}

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	var lines []string
	for line := range strings.Lines(string(text)) {
		if whole, ok := strings.CutSuffix(line, lineEnd+"\n"); ok {
			lines = append(lines, whole)
		}
	}
	return lines
}
