package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
)

// office is a sidecar with an agent and an operator at its listeners.
type office struct {
	*running
	agent, operator *client.Client
}

// onePerson is the configuration of a machine on which one user is ana, the
// operator and the agent. Commands on the host start in a folder of their own.
func onePerson(tb testing.TB, sections ...string) string {
	tb.Helper()
	return fmt.Sprintf(`state_dir: state
agent: {listeners: [{name: test, listen: "unix://%[1]s/a.sock", platforms: ["*"]}]}
operator: {listen: "unix://%[1]s/o.sock", allow_same_user: true}
people: [{name: ana, uids: [%[2]d]}]
metrics: {listen: "127.0.0.1:0"}
runner: {path: %[3]s}
`, openDir(tb), os.Getuid(), backendtest.Runner(tb)) + strings.Join(sections, "\n")
}

// onTheHost lets the command line of ana run on the host, and chats in namespaces.
func onTheHost(tb testing.TB) string {
	tb.Helper()
	return "backends: {bubblewrap: {}, local: {workdir: " + openDir(tb) + "}}"
}

func startOffice(tb testing.TB, folder, text string) *office {
	tb.Helper()
	s, err := tryServe(tb, folder, text)
	must(tb, err)
	return &office{s, s.client(tb), s.operators(tb)}
}

// withHouse are the shipped policies with a file of the house, and with grants
// for always on offer.
func withHouse(tb testing.TB, house string) (folder, section string) {
	tb.Helper()
	folder, section = shippedWith(tb, "terms: {scopes: [once, session]", "terms: {scopes: [once, session, always]")
	save(tb, filepath.Join(folder, "house.rego"), "package bailiff\n\n"+house)
	return folder, section
}

// shippedWith are the shipped policies with one part of the tables replaced.
func shippedWith(tb testing.TB, part, by string) (folder, section string) {
	tb.Helper()
	folder = openDir(tb)
	policytest.Copy(tb, folder)
	path := filepath.Join(folder, "data.yaml")
	tables, err := os.ReadFile(path)
	if err != nil || strings.Count(string(tables), part) != 1 {
		tb.Fatalf("the tables have no %q, or several: %v", part, err)
	}
	save(tb, path, strings.Replace(string(tables), part, by, 1))
	return folder, "policies: {require_tests: false, paths: [" + strconv.Quote(folder) + "]}"
}

// atTerminal is a request of the command line on the host, whose sender waits.
func atTerminal(session, command string) bailiff.Request {
	return bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command}, Backend: "local", WaitSeconds: 60,
		Session: bailiff.Session{ID: session, Platform: "cli", UserID: "42"}}
}

// waiting makes a chat's sender wait.
func waiting(req bailiff.Request) bailiff.Request {
	req.WaitSeconds = 60
	return req
}

// sent is a request under way.
type sent struct {
	asked  chan api.Approval // what people are asked, once
	answer chan api.Answer
	err    error    // if there is no answer
	events []string // to be read after the answer
}

// send sends a request and does not wait for its answer.
func send(ctx context.Context, agent *client.Client, req bailiff.Request) *sent {
	e := &sent{asked: make(chan api.Approval, 1), answer: make(chan api.Answer, 1)}
	go func() {
		defer close(e.answer)
		a, err := agent.Execute(ctx, req, client.News{
			Decision: func(d api.Decided) { e.events = append(e.events, "decision "+d.Decision.Outcome.String()) },
			Approval: func(a api.Approval) {
				e.events = append(e.events, "approval "+string(a.State))
				if a.State == bailiff.ApprovalPending {
					e.asked <- a
				}
			},
			Output: func(piece []byte) { e.events = append(e.events, "output "+string(piece)) },
		})
		if e.err = err; err == nil {
			e.answer <- a
		}
	}()
	return e
}

// question is the id of the approval that a pending request waits for.
func (e *sent) question(tb testing.TB) string {
	tb.Helper()
	select {
	case a := <-e.asked:
		return a.ID
	case a := <-e.answer:
		tb.Fatalf("nobody was asked, the answer is %s %s: %s", a.Status, a.Code, a.Message)
	case <-awaittest.Context(tb).Done():
		tb.Fatal("nobody was asked")
	}
	return ""
}

func (e *sent) end(tb testing.TB) api.Answer {
	tb.Helper()
	a := awaittest.Value(tb, "an answer", e.answer)
	if e.err != nil {
		tb.Fatalf("there was no answer: %v", e.err)
	}
	return a
}

func mustApprove(tb testing.TB, operator *client.Client, id, scope string) api.Entry {
	tb.Helper()
	e, err := operator.Approve(context.Background(), id, scope)
	if err != nil {
		tb.Fatalf("approving %s: %v", id, err)
	}
	return e
}

// wants checks how a request ended, and a part of what its sender is told.
func wants(tb testing.TB, a api.Answer, status bailiff.Status, says string) {
	tb.Helper()
	if a.Status != status || !strings.Contains(a.Message, says) {
		tb.Errorf("the answer is %s %s: %q, want %s and %q", a.Status, a.Code, a.Message, status, says)
	}
}

// linesIn are the lines of a file that may not be there yet.
func linesIn(tb testing.TB, path string) []string {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	return strings.Fields(string(text))
}

// asUser is a client that comes to a socket as another user, which only root can.
func asUser(tb testing.TB, uid int, address string) *client.Client {
	tb.Helper()
	own := filepath.Join(openDir(tb), "as.sock")
	l, err := net.Listen("unix", own)
	must(tb, err)
	tb.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go pass(c, uid, strings.TrimPrefix(address, "unix://"))
		}
	}()
	return clientOf(tb, "unix://"+own)
}

// pass hands a connection on to a socket, as another user.
func pass(from net.Conn, uid int, path string) {
	defer func() { _ = from.Close() }()
	to, err := dialAs(uid, path)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}

// dialAs dials from a thread of another user; the thread dies with it.
func dialAs(uid int, path string) (c net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
			err = errno
			return
		}
		c, err = net.Dial("unix", path)
	}()
	<-done
	return c, err
}

// needsRoot skips a test in which people have users of their own.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("BAILIFF_REQUIRE_ALL") != "" {
		t.Fatal("only root can be other users: run this test as root")
	}
	t.Skip("only root can be other users")
}
