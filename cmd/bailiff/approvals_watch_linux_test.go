package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/audit"
	"github.com/bailiff-dev/bailiff/internal/trial"
)

// anybody may answer.
type anybody struct{}

func (anybody) Plan(bailiff.Claim) (approval.Plan, error) {
	return approval.Plan{Route: "all", Approvers: []string{"ana"}, Channels: []string{"operator"}, Quorum: 1, Timeout: time.Hour}, nil
}
func (anybody) May(approval.Approver, bailiff.Claim, string) error { return nil }

// desk is a book behind a real operators' door.
type desk struct {
	*approval.Book
	config string // the path of a bailiff.yaml that names the door
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	folder := t.TempDir()
	log, err := audit.Open(audit.Config{StateDir: folder})
	if err != nil {
		t.Fatal(err)
	}
	book, err := approval.Open(approval.Config{Path: filepath.Join(folder, "approvals.db"), Router: anybody{}, Recorder: log, Caps: approval.Caps{User: 20}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(book.Close(), log.Close()) })
	handler, err := gateway.NewOperator(gateway.OperatorConfig{Statuser: struct{ gateway.Statuser }{}, Sandboxes: struct{ gateway.Sandboxer }{}, Approvals: book, Grants: book, Freezer: book, Decisions: log, Lawbook: struct{ gateway.Lawbook }{},
		Who: gateway.ByPeer(func(uint32, string) approval.Approver {
			return approval.Approver{Person: "ana", Credential: "uid:1000", Channel: "operator"}
		})})
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(trial.OpenDir(t), "o.sock")
	door, err := gateway.Open(gateway.DoorConfig{Name: "operator", Network: "unix", Address: socket}, handler)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = door.Serve() }()
	t.Cleanup(func() { _ = door.Shutdown(context.Background()) })
	config := filepath.Join(folder, "bailiff.yaml")
	if err := os.WriteFile(config, []byte("state_dir: "+folder+"\noperator: {listen: \"unix://"+socket+"\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &desk{book, config}
}

// ask asks for a command of a session.
func (d *desk) ask(t *testing.T, session, command string) string {
	t.Helper()
	a, err := d.Ask(t.Context(), bailiff.Claim{
		Request: bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command}, Caller: "hermes", Peer: "uid:1001",
			Session: bailiff.Session{ID: session, Platform: "telegram", UserID: "42"}},
		Decision: bailiff.Decision{Outcome: bailiff.Ask, Approval: &bailiff.ApprovalTerms{GrantSeconds: 60, Quorum: 1, TimeoutSeconds: 3600,
			Scopes: []string{"once", "session", "always"}, Reasons: []bailiff.Reason{{Rule: "command.deletes", Message: "It deletes.", Match: "rm"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}

func (d *desk) state(t *testing.T, id string) approval.Entry {
	t.Helper()
	e, found := d.Get(id)
	if !found {
		t.Fatalf("there is no approval %s", id)
	}
	return e
}

// terminal is a pseudo-terminal on which a command runs.
type terminal struct {
	keyboard *os.File
	ended    chan error

	mu   sync.Mutex
	more *sync.Cond
	text bytes.Buffer
	over bool
}

func openTerminal(t *testing.T, rows, columns uint16) (keyboard, line *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	raw, err := keyboard.SyscallConn() // Fd would make reading it wait, even when it is closed
	if err != nil {
		t.Fatal(err)
	}
	var number int
	wrong := raw.Control(func(handle uintptr) {
		fd := int(handle)
		if number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err == nil {
			err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
		}
		if err == nil {
			err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
		}
	})
	if err = errors.Join(wrong, err); err == nil {
		line, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return keyboard, line
}

// watch runs "bailiff approvals watch" on a terminal.
func (d *desk) watch(t *testing.T, rows, columns uint16) *terminal {
	t.Helper()
	t.Setenv("TERM", "xterm")
	keyboard, line := openTerminal(t, rows, columns)
	s := &terminal{keyboard: keyboard, ended: make(chan error, 1)}
	s.more = sync.NewCond(&s.mu)
	go s.read()
	root := newRoot()
	root.SetArgs([]string{"approvals", "watch", "--config", d.config})
	root.SetIn(line)
	root.SetOut(line)
	go func() {
		err := root.ExecuteContext(t.Context())
		_ = line.Close()
		s.ended <- err
	}()
	return s
}

func (s *terminal) read() {
	buf := make([]byte, 1<<16)
	for {
		n, err := s.keyboard.Read(buf)
		s.mu.Lock()
		s.text.Write(buf[:n])
		s.over = err != nil
		s.more.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await waits until the screen shows all of the parts, and returns it.
func (s *terminal) await(t *testing.T, parts ...string) string {
	t.Helper()
	late := time.AfterFunc(30*time.Second, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.over = true
		s.more.Broadcast()
	})
	defer late.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		frames := strings.Split(s.text.String(), wiped)
		screen := frames[len(frames)-1]
		shows := true
		for _, part := range parts {
			shows = shows && strings.Contains(screen, part)
		}
		if shows && len(frames) > 1 {
			return screen
		}
		if s.over {
			t.Fatalf("the screen never shows %q, but\n%s", parts, screen)
		}
		s.more.Wait()
	}
}

func (s *terminal) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// afterwards is what the view leaves a terminal with.
const afterwards = "\x1b[?25h\x1b[?1049l"

// leave presses q and returns all that was ever written.
func (s *terminal) leave(t *testing.T) string {
	t.Helper()
	s.press(t, "q")
	if err := <-s.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.over && !strings.HasSuffix(s.text.String(), afterwards) {
		s.more.Wait()
	}
	return s.text.String()
}

func TestTheLiveViewAnswersByOneKey(t *testing.T) {
	d := newDesk(t)
	first, second := d.ask(t, "s1", "rm -rf ./build"), d.ask(t, "s2", "rm two\x1b[31m\u202e")
	s := d.watch(t, 40, 100)
	s.await(t, "2 wait for approval", "> 1  "+first, "  2  "+second, "  | \x1b[1;7mrm\x1b[0m -rf ./build", "because    command.deletes")
	s.press(t, "a")
	s.await(t, "1 wait for approval", first+": approved by ana, once")
	if e := d.state(t, first); e.Scope != bailiff.ScopeOnce || e.Votes[0].Person != "ana" {
		t.Errorf("it is %+v", e)
	}
	s.press(t, "a")
	s.await(t, "Select one first")
	s.press(t, "j")
	s.await(t, "> 1  "+second, `two\x1b[31m\u202e`)
	third := d.ask(t, "s3", "rm three")
	s.await(t, "> 1  "+second, "  2  "+third)
	s.press(t, "d")
	s.await(t, "why not")
	s.press(t, "no\x1b")
	s.await(t, "Not denied.")
	s.press(t, "dnot \x07x\x7ftoday\r")
	s.await(t, "denied by ana: not today")
	s.press(t, "\x1b[B")
	s.await(t, "> 1  "+third)
	s.press(t, "s")
	s.await(t, "0 wait for approval", third+": approved by ana, for this session")
	if e := d.state(t, second); e.State != bailiff.ApprovalDenied || e.Votes[0].Reason != "not today" {
		t.Errorf("it is %+v", e)
	}
	all := s.leave(t)
	if strings.Contains(all, "\x1b[31m") || strings.Contains(all, "\u202e") {
		t.Error("a command's escapes reached the terminal")
	}
	if !strings.HasSuffix(all, afterwards) {
		t.Errorf("the terminal is left as %q", all[max(0, len(all)-40):])
	}
}

func TestNoKeyAnswersWhatWasNotSeen(t *testing.T) {
	d := newDesk(t)
	s := d.watch(t, 40, 100)
	s.await(t, "0 wait for approval")
	first := d.ask(t, "s1", "rm one")
	s.await(t, "  1  "+first)
	s.press(t, "a")
	s.await(t, "Select one first")
	second := d.ask(t, "s2", "rm two")
	s.press(t, "1")
	s.await(t, "> 1  "+first)
	if _, err := d.Answer(t.Context(), first, approval.Approver{Person: "eve"}, approval.Verdict{}); err != nil {
		t.Fatal(err)
	}
	s.await(t, "  1  "+second, "denied by eve")
	s.press(t, "w")
	s.await(t, "Select one first")
	if e := d.state(t, second); e.State != bailiff.ApprovalPending {
		t.Errorf("it is %+v", e)
	}
	long := d.ask(t, "s3", "rm "+strings.Repeat("x\n", 100))
	s.await(t, "  2  "+long)
	s.press(t, "2")
	s.await(t, "> 2  "+long, "more lines: bailiff approvals show "+long)
	s.press(t, "a")
	s.await(t, "a once more approves it")
	s.press(t, "k") // which forgets that
	s.await(t, "> 1  "+second)
	s.press(t, "ja")
	s.await(t, "> 2  "+long, "a once more approves it")
	s.press(t, "w") // which is another key
	s.await(t, "w once more approves it")
	if e := d.state(t, long); e.State != bailiff.ApprovalPending {
		t.Errorf("it is %+v", e)
	}
	s.press(t, "w")
	s.await(t, "approved by ana, for this user until it is revoked")
	s.leave(t)
}

func TestTheLiveViewFreezes(t *testing.T) {
	d := newDesk(t)
	id := d.ask(t, "s1", "rm one")
	s := d.watch(t, 24, 80)
	s.await(t, "> 1  "+id)
	s.press(t, "f")
	s.await(t, "freeze session s1")
	s.press(t, "n")
	s.await(t, "Not frozen.")
	s.press(t, "f")
	s.await(t, "freeze session s1")
	s.press(t, "y")
	s.await(t, "0 wait for approval")
	if list := d.Freezes(); len(list) != 1 || list[0].ID != "s1" {
		t.Errorf("frozen is %+v", list)
	}
	s.leave(t)
}

func TestTheScreenIsNeverOverfull(t *testing.T) {
	d := newDesk(t)
	for n := range 20 {
		d.ask(t, fmt.Sprint("s", n), "rm 删除 "+strings.Repeat("删", 300))
	}
	const rows, across = 12, 40
	s := d.watch(t, rows, across)
	screen := s.await(t, "20 wait for approval", "> 1")
	lines := strings.Split(screen, "\r\n")
	if len(lines) > rows {
		t.Errorf("%d lines are drawn", len(lines))
	}
	for _, line := range lines {
		line = strings.NewReplacer(inverse.begin, "", inverse.end, "").Replace(line)
		wide := 0
		for _, r := range line {
			wide += columns(r)
		}
		if wide > across {
			t.Errorf("%q is %d wide", line, wide)
		}
	}
	s.leave(t)
}

func TestWithoutATerminalEventsAreLines(t *testing.T) {
	d := newDesk(t)
	for _, format := range []string{"table", "json"} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		root := newRoot()
		root.SetArgs([]string{"approvals", "watch", "--config", d.config, "--output", format})
		root.SetIn(strings.NewReader(""))
		root.SetOut(write)
		ended := make(chan error, 1)
		go func() { ended <- root.ExecuteContext(ctx); _ = write.Close() }()
		buf := make([]byte, 1<<16)
		var text string
		for n := 0; !strings.Contains(text, "\n"); n++ {
			d.ask(t, fmt.Sprint("s", n, format), "rm x\x1b[2J\u202e") // until it is watched
			if err := read.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			k, _ := read.Read(buf)
			text += string(buf[:k])
		}
		for _, part := range map[string][]string{
			"table": {"approval", "pending", "telegram:42", `rm x\x1b[2J\u202e`, "waiting for ana"},
			"json":  {`{"event":"approval","data":{"id":"a-`, `rm x\u001b[2J\u202e`},
		}[format] {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q: %q", format, part, text)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s ended with %v", format, err)
		}
	}
}
