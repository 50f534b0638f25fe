package client_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// asking is what a client is to ask; what comes of it is a class and what was told.
type asking struct {
	Address string `json:"address"`
	Token   string `json:"token"`
	// Seconds are the client's own deadline.
	Seconds float64 `json:"seconds"`
	// Patience is how long silence may last, if that is something else.
	Patience float64 `json:"patience"`
	Call     string  `json:"call"`
	ID       string  `json:"id"`
	Request  wish    `json:"request"`
	// Whole has it told what the answer to execute holds, as a [told].
	Whole bool `json:"whole"`
}

// told is what a caller reads in an answer.
type told struct {
	Status    bailiff.Status `json:"status"`
	Process   string         `json:"process"`
	Output    string         `json:"output"`
	Truncated bool           `json:"truncated"`
	Withheld  []string       `json:"withheld"`
}

// wish is the part of a request that both clients are given in the same way.
type wish struct {
	Tool    bailiff.Tool    `json:"tool"`
	Args    bailiff.Args    `json:"args"`
	Session bailiff.Session `json:"session"`
	Env     []string        `json:"env,omitempty"`
}

func (a asking) request() bailiff.Request {
	return bailiff.Request{ID: a.ID, Tool: a.Request.Tool, Args: a.Request.Args, Session: a.Request.Session, Env: a.Request.Env}
}

type come struct {
	Class string `json:"class"`
	Told  string `json:"told"`
	Said  string `json:"said"`
}

// asker is one of the two clients.
type asker func(asking) come

// both are the two, by the language for which they are.
func both(t *testing.T) map[string]asker {
	return map[string]asker{"Go": goAsker(t), "Python": pythonAsker(t)}
}

func goAsker(t *testing.T) asker {
	return func(a asking) come {
		c, err := client.New(a.Address, bailiff.NewSecret(a.Token))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(a.Seconds*float64(time.Second)))
		defer cancel()
		told, err := calls[a.Call](ctx, c, a)
		return classOf(told, err)
	}
}

var calls = map[string]func(context.Context, *client.Client, asking) (string, error){
	"execute": executed,
	"decide": func(ctx context.Context, c *client.Client, a asking) (string, error) {
		body, _ := json.Marshal(a.request())
		d, err := c.Decide(ctx, body)
		return d.Decision.Outcome.String(), err
	},
	"end_session": func(ctx context.Context, c *client.Client, _ asking) (string, error) {
		ended, err := c.EndSession(ctx, "s1")
		return fmt.Sprint(ended.Processes), err
	},
	"register_tools": func(ctx context.Context, c *client.Client, _ asking) (string, error) {
		return "", c.RegisterTools(ctx, "s1", []string{"web_search"})
	},
	"answer_tool": func(ctx context.Context, c *client.Client, _ asking) (string, error) {
		return "", c.AnswerTool(ctx, "c1", api.ToolAnswer{Result: []byte("[1]")})
	},
}

func executed(ctx context.Context, c *client.Client, a asking) (string, error) {
	var names []string
	var output []byte
	answer, err := c.Execute(ctx, a.request(), client.News{
		Decision: func(api.Decided) { names = append(names, "decision") },
		Approval: func(api.Approval) { names = append(names, "approval") },
		Output:   func(piece []byte) { output = append(output, piece...) },
	})
	if err != nil {
		return "", err
	}
	whole, err := answer.Bytes()
	if string(whole) != string(output) {
		err = fmt.Errorf("the pieces of output are %q, the whole is %q", output, whole)
	}
	if a.Whole {
		text, wrong := json.Marshal(told{answer.Status, answer.ProcessID, answer.Output, answer.Truncated,
			answer.Decision.WithheldBy(answer.ExitCode != 0)})
		return string(text), errors.Join(err, wrong)
	}
	told := []string{string(answer.Status), answer.Code, fmt.Sprint(answer.ExitCode), hex.EncodeToString(whole)}
	return strings.Join(append(told, names...), " "), err
}

// classOf names errors as the Python client does.
func classOf(told string, err error) come {
	var refusal *api.Problem
	switch {
	case err == nil:
		return come{"Answer", told, ""}
	case errors.Is(err, client.ErrUncertain):
		return come{"Uncertain", "", err.Error()}
	case errors.Is(err, client.ErrUnreachable):
		return come{"Unreachable", "", err.Error()}
	case errors.As(err, &refusal):
		at := []string{refusal.Code}
		for _, fault := range refusal.Errors {
			at = append(at, fault.At)
		}
		slices.Sort(at[1:])
		return come{"Refused", strings.Join(at, " "), err.Error()}
	}
	return come{"BailiffError", "", err.Error()}
}

// pythonAsker has one interpreter ask all.
func pythonAsker(t *testing.T) asker {
	t.Helper()
	python, err := exec.LookPath("python3")
	backendtest.Needs(t, "PYTHON", err)
	command := exec.Command(python, filepath.Join("testdata", "asks.py"), filepath.Join(apptest.Root(t), "examples", "python"))
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	command.Stderr = os.Stderr
	in, err1 := command.StdinPipe()
	out, err2 := command.StdoutPipe()
	if err := errors.Join(err1, err2, command.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = command.Wait() })
	answers := bufio.NewReader(out)
	return func(a asking) (c come) {
		line, err := json.Marshal(a)
		if err == nil {
			_, err = in.Write(append(line, '\n'))
		}
		if err == nil {
			line, err = answers.ReadBytes('\n')
		}
		if err := errors.Join(err, json.Unmarshal(line, &c)); err != nil {
			t.Errorf("asking Python: %v", err)
		}
		return c
	}
}

var (
	chat  = bailiff.Session{ID: "s1", Platform: "telegram", ChatType: "dm", ChatID: "42", UserID: "42"}
	hello = typed("echo hello")
)

func typed(command string) wish {
	return wish{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command}, Session: chat}
}

func TestBothClientsSayTheSameOfASidecar(t *testing.T) {
	s := apptest.Serve(t, apptest.WithRules(t, `
require_approval contains {"rule": "house.asks", "message": "It removes.", "match": "rm"} if {
	contains(input.args.command, "rm -rf build")
}`))
	for name, ask := range both(t) {
		for _, test := range []struct {
			is   string
			ask  asking
			want come
		}{
			{"a command that succeeds", asking{Call: "execute", Request: hello}, come{"Answer", "completed  0 68656c6c6f0a decision", ""}},
			{"a command that fails and prints no text", asking{Call: "execute", Request: typed(`printf 'a\377'; exit 3`)},
				come{"Answer", "completed  3 61ff decision", ""}},
			{"a command that is denied", asking{Call: "execute", Request: typed("rm -rf /")}, come{"Answer", "denied  126  decision", ""}},
			{"a command that people must approve", asking{Call: "execute", Request: typed("rm -rf build")},
				come{"Answer", "approval_required  75  decision approval", ""}},
			{"a command that takes too long", asking{Call: "execute",
				Request: wish{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "sleep 60", Timeout: 1}, Session: chat}},
				come{"Answer", "timeout  124  decision", ""}},
			{"a command that its caller gives up", asking{Call: "execute", Request: typed("sleep 60"), Seconds: 0.5},
				come{"Uncertain", "", ""}},
			{"a program", asking{Call: "execute",
				Request: wish{Tool: bailiff.ExecuteCode, Args: bailiff.Args{Code: "print(6*7)"}, Session: chat}},
				come{"Answer", "completed  0 34320a decision", ""}},
			{"an id", asking{Call: "execute", ID: name, Request: hello}, come{"Answer", "completed  0 68656c6c6f0a decision", ""}},
			{"another request under that id", asking{Call: "execute", ID: name, Request: typed("echo bye")},
				come{"Answer", "error request_id_conflict 125 ", ""}},
			{"what is no request", asking{Call: "execute",
				Request: wish{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "ls", Workdir: "here", Timeout: -1}, Session: chat}},
				come{"Refused", "invalid_request /args/timeout /args/workdir", ""}},
			{"what is too large", asking{Call: "execute", Request: typed("echo " + strings.Repeat("a", 1<<20))},
				come{"Refused", "too_large", ""}},
			{"whether a command would run", asking{Call: "decide", Request: hello}, come{"Answer", "allow", ""}},
			{"whether another would", asking{Call: "decide", Request: typed("rm -rf /")}, come{"Answer", "deny", ""}},
			{"whether a third would", asking{Call: "decide", Request: typed("rm -rf build")}, come{"Answer", "ask", ""}},
			{"tools", asking{Call: "register_tools"}, come{"Answer", "", ""}},
			{"an answer that nobody waits for", asking{Call: "answer_tool"}, come{"Refused", "tool_call_unknown", ""}},
			{"the end", asking{Call: "end_session"}, come{"Answer", "0", ""}},
		} {
			t.Run(name+" asks for "+test.is, func(t *testing.T) {
				test.ask.Address = s.Agent
				if test.ask.Seconds == 0 {
					test.ask.Seconds = 60
				}
				got := ask(test.ask)
				said := got.Said
				if got.Said = ""; got != test.want {
					t.Errorf("it is %+v (%s), want %+v", got, said, test.want)
				}
			})
		}
	}
}

func TestBothClientsReadMuchOutputBackAndHearOfVariablesAndProcesses(t *testing.T) {
	s := apptest.Serve(t)
	for name, ask := range both(t) {
		t.Run(name, func(t *testing.T) {
			asks := func(request wish) (answer told) {
				t.Helper()
				request.Session.ID = name
				got := ask(asking{Address: s.Agent, Seconds: 60, Call: "execute", Request: request, Whole: true})
				if err := json.Unmarshal([]byte(got.Told), &answer); err != nil || answer.Status != bailiff.Completed {
					t.Fatalf("%+v comes to %+v, %v", request.Args, got, err)
				}
				return answer
			}
			cut := asks(typed("seq 30000 | tee all.txt"))
			if !cut.Truncated || strings.Contains(cut.Output, "\n15000\n") || len(cut.Output) > 51_000 {
				t.Errorf("of much output it reads %d bytes, cut: %t", len(cut.Output), cut.Truncated)
			}
			if read := asks(typed("sed -n 15000p all.txt")); read.Output != "15000\n" || read.Truncated {
				t.Errorf("what was cut is read back as %+v", read)
			}
			wanting := typed("printenv OF_NO_TABLE")
			wanting.Env = []string{"OF_NO_TABLE"}
			if lacked := asks(wanting).Withheld; len(lacked) != 1 || !strings.HasPrefix(lacked[0], "OF_NO_TABLE was withheld (env.") {
				t.Errorf("of a variable it is told %q", lacked)
			}
			begins := wish{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "read n; echo hello $n", Background: true}, Session: chat}
			process := asks(begins).Process
			asks(wish{Tool: bailiff.Process, Args: bailiff.Args{Action: "submit", ProcessID: process, Data: "ana"}, Session: chat})
			if ended := asks(wish{Tool: bailiff.Process, Args: bailiff.Args{Action: "wait", ProcessID: process, Timeout: 30},
				Session: chat}); ended.Output != "hello ana\n" {
				t.Errorf("what it began ends as %+v", ended)
			}
		})
	}
}

func TestBothClientsSayOfABrokenSidecarThatNothingIsKnown(t *testing.T) {
	for name, ask := range both(t) {
		for _, broken := range apptest.BrokenSidecars() {
			for _, network := range []string{"unix", "tcp"} {
				address := broken.Open(t, network)
				for call := range calls {
					if patience(broken.Name) < 1 && (network == "tcp" || call != "execute" && call != "decide") {
						continue // each takes its time, and how it is asked makes no difference there
					}
					t.Run(fmt.Sprintf("%s asks one by %s that %s to %s", name, network, broken.Name, call), func(t *testing.T) {
						got := ask(asking{Address: address, Seconds: patience(broken.Name), Call: call, Request: hello})
						if want := brokenClass(broken.Name, call); got.Class != want {
							t.Errorf("it is %+v, want %s", got, want)
						}
						if !strings.Contains(got.Said, address) && got.Class != "Refused" {
							t.Errorf("it says %q, want the address in it", got.Said)
						}
					})
				}
			}
		}
	}
}

// patience is the deadline, in seconds, in front of a broken sidecar: short where nothing
// else ends the wait.
func patience(name string) float64 {
	for _, endless := range []string{"never", "stalls", "drips"} {
		if strings.Contains(name, endless) {
			return 0.5
		}
	}
	return 60
}

// brokenClass is the class of the fault that a broken sidecar is.
func brokenClass(name, call string) string {
	switch {
	case name == apptest.Absent, name == "was killed and left its address":
		return "Unreachable"
	case call == "execute":
		return "Uncertain"
	case name == "failed":
		return "Refused"
	}
	return "BailiffError"
}

func TestBothClientsBringTheTokenAndTellNobody(t *testing.T) {
	const token = "s3cret-token"
	agent, err := gateway.NewAgent(gateway.AgentConfig{Name: "example", Platforms: []string{"*"}, Enforcer: greeter{}, Tools: greeter{}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := gateway.Open(gateway.ListenerConfig{Network: "tcp", Address: "127.0.0.1:0", Token: bailiff.NewSecret(token)}, agent)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = listener.Serve() }()
	t.Cleanup(func() { _ = listener.Shutdown(context.Background()) })
	for name, ask := range both(t) {
		for brought, want := range map[string]string{token: "Answer", "": "Refused", token + "-of-another": "Refused",
			token + "\nX-Header: 1": "Unreachable"} {
			got := ask(asking{Address: listener.Address(), Token: brought, Seconds: 60, Call: "execute", Request: hello})
			if got.Class != want || strings.Contains(got.Said, token) {
				t.Errorf("%s with %q: %+v, want %s", name, brought, got, want)
			}
		}
	}
}

func TestBothClientsReadSoMuchAndNoMore(t *testing.T) {
	for kind, call := range map[string]string{"text/event-stream": "execute", "application/json": "decide"} {
		address := torrent(t, kind)
		for name, ask := range both(t) {
			if got := ask(asking{Address: address, Seconds: 600, Call: call, Request: hello}); !strings.Contains(got.Said, "large") {
				t.Errorf("%s: of an answer without end: %+v", name, got)
			}
		}
	}
}

// torrent is a sidecar whose answers have no end.
func torrent(t *testing.T, kind string) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for piece := bytes.Repeat([]byte("a"), 1<<20); ; {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return "tcp://" + server.Listener.Addr().String()
}

// Of the others, internal tests try the client in Go, whose patience is its own.
func TestThePythonClientGivesUpASidecarThatStaysSilentAndNoOther(t *testing.T) {
	ask := pythonAsker(t)
	for _, broken := range apptest.BrokenSidecars() {
		if broken.Name == apptest.Silent || broken.Name == "drips a stream" {
			t.Run(broken.Name, func(t *testing.T) {
				if got := ask(asking{Address: broken.Open(t, "unix"), Seconds: 600, Patience: 0.1, Call: "execute",
					Request: hello}); got.Class != "Uncertain" {
					t.Errorf("it is %+v", got)
				}
			})
		}
	}
	s := apptest.Serve(t)
	if got := ask(asking{Address: s.Agent, Seconds: 600, Patience: 11, Call: "execute",
		Request: typed("sleep 12")}); got.Class != "Answer" {
		t.Errorf("of a command that prints nothing for 12 seconds it is %+v", got)
	}
}

func TestBothClientsAreToldThatTheyAskAtTheWrongListenerOrWithTheWrongToken(t *testing.T) {
	s := apptest.Serve(t)
	url, _ := s.TCP(t)
	tcp := "tcp" + strings.TrimPrefix(url, "http")
	for name, ask := range both(t) {
		for _, c := range []struct{ at, token, says string }{
			{s.Operator, "", "This is the operators' listener; agents ask at a listener of agent.listeners."},
			{tcp, "", "was sent none"},
			{tcp, "another", "is not that of listener tcp"},
		} {
			for _, call := range []string{"execute", "decide", "end_session"} {
				t.Run(fmt.Sprintf("%s asks %s at %s with token %q", name, call, c.at, c.token), func(t *testing.T) {
					for _, request := range []wish{hello, typed("echo " + strings.Repeat("x", 60_000))} {
						if got := ask(asking{Address: c.at, Token: c.token, Seconds: 60, Call: call,
							Request: request}); got.Class != "Refused" || !strings.Contains(got.Said, c.says) {
							t.Errorf("it is %+v, want what says %q", got, c.says)
						}
					}
				})
			}
		}
	}
}

func TestThePythonClientSaysWhoseTheSocketIs(t *testing.T) {
	python, err := exec.LookPath("python3")
	backendtest.Needs(t, "PYTHON", err)
	l, err := net.Listen("unix", filepath.Join(apptest.OpenDir(t), "a.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if err := os.Chmod(l.Addr().String(), 0); err != nil {
		t.Fatal(err)
	}
	const asks = "import bailiff, os, sys; os.getuid() or os.seteuid(65534); bailiff.Client(sys.argv[1]).end_session('s1')"
	command := exec.Command(python, "-B", "-c", asks, "unix://"+l.Addr().String())
	command.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(apptest.Root(t), "examples", "python"))
	if printed, err := command.CombinedOutput(); err == nil || !strings.Contains(string(printed), "Unreachable: ") ||
		!strings.Contains(string(printed), "the socket is for other users, see uids in bailiff.yaml") {
		t.Errorf("it ends with %v and says %s", err, printed)
	}
}

func TestBothClientsSayThatARequestMayHaveRunWhoseSidecarWasKilled(t *testing.T) {
	for name, ask := range both(t) {
		t.Run(name, func(t *testing.T) {
			s := apptest.Serve(t)
			done := make(chan come, 1)
			go func() {
				done <- ask(asking{Address: s.Agent, Seconds: 60, Call: "execute", Request: typed("sleep 60")})
			}()
			backendtest.Await(t, "the command runs", func() bool {
				all, err := s.Operators(t).Sandboxes(t.Context())
				return err == nil && len(all) == 1 && all[0].Users == 1
			})
			s.Kill()
			if got := <-done; got.Class != "Uncertain" {
				t.Errorf("it is %+v", got)
			}
		})
	}
}
