package vercel

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest/machine"
)

// command is a program that the fake runs in a machine, with its log.
type command struct {
	id      string
	of      *lent
	name    string
	args    []string
	cwd     string
	began   time.Time
	process *machine.Process

	mu    sync.Mutex
	more  sync.Cond
	log   []entrySaid
	read  int // entries that were followed and forgotten
	ended bool
	code  int
}

type entrySaid struct {
	Stream string `json:"stream"`
	Data   any    `json:"data"`
}

// kept is how many entries of a log stay when somebody has read them.
const kept = 64

func (l *lent) run(w http.ResponseWriter, r *http.Request, body []byte) {
	given := struct {
		Command, Cwd string
		Args         []string
		Env          map[string]string
		Sudo, Wait   bool
		Logs         bool
	}{Cwd: "/home/default"}
	_ = json.Unmarshal(body, &given) // its shape was looked at
	env := map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/default",
		"VERCEL_MACHINE": "a variable of the machine's"}
	cmd := machine.Cmd{Argv: append([]string{given.Command}, given.Args...), Dir: given.Cwd, User: 1000}
	if given.Sudo {
		cmd.User, env["HOME"] = 0, "/root"
	}
	maps.Copy(env, given.Env)
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	c := &command{of: l, name: given.Command, args: given.Args, cwd: given.Cwd, began: time.Now()}
	c.more.L = &c.mu
	var err error
	if c.process, err = l.machine.Start(cmd); err != nil {
		refuse(w, http.StatusBadRequest, "bad_request", err.Error())
		return
	}
	c.process.Stdin.Close()
	l.fake.mu.Lock()
	c.id = l.fake.number("cmd")
	l.commands[c.id] = c
	l.fake.mu.Unlock()
	go c.collect()
	if !given.Wait {
		answer(w, map[string]any{"command": c.said()})
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	_ = lines.Encode(map[string]any{"command": c.said()})
	c.follow(w, r, given.Logs)
	_ = lines.Encode(map[string]any{"command": c.said()})
}

// collect keeps what the program prints, as text.
func (c *command) collect() {
	var both sync.WaitGroup
	for stream, from := range map[string]io.Reader{"stdout": c.process.Stdout, "stderr": c.process.Stderr} {
		both.Go(func() {
			buf := make([]byte, 32<<10)
			for {
				n, err := from.Read(buf)
				if n > 0 {
					c.append(entrySaid{stream, strings.ToValidUTF8(string(buf[:n]), "\ufffd")})
				}
				if err != nil {
					return
				}
			}
		})
	}
	both.Wait()
	code := c.process.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended, c.code = true, code
	c.more.Broadcast()
}

func (c *command) append(e entrySaid) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, e)
	c.more.Broadcast()
}

func (c *command) said() map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]any{"id": c.id, "name": c.name, "args": c.args, "cwd": c.cwd, "sessionId": c.of.id, "exitCode": nil,
		"startedAt": c.began.UnixMilli()}
	if c.ended {
		all["exitCode"] = c.code
	}
	return all
}

// next waits for an entry; there is none after the program's end, or the machine's.
func (c *command) next(at int) (e entrySaid, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at >= c.read+len(c.log) && !c.ended {
		c.more.Wait()
	}
	if at >= c.read+len(c.log) {
		return e, false
	}
	if e = c.log[at-c.read]; at-c.read > 2*kept {
		c.log = append([]entrySaid{}, c.log[kept:]...)
		c.read += kept
	}
	return e, true
}

// follow sends the log as it grows.
func (c *command) follow(w http.ResponseWriter, r *http.Request, send bool) {
	lines := json.NewEncoder(w)
	for at := 0; ; at++ {
		e, ok := c.next(at)
		if !ok {
			break
		}
		if send && (lines.Encode(e) != nil || http.NewResponseController(w).Flush() != nil) {
			return
		}
	}
	if c.of.isOver() {
		_ = lines.Encode(entrySaid{"error", map[string]string{"code": "sandbox_stream_closed",
			"message": "Sandbox stream was closed and is not accepting commands."}})
	}
}

func (l *lent) ofCommand(w http.ResponseWriter, r *http.Request, s shape, parts []string, fields map[string]any) {
	l.fake.mu.Lock()
	c := l.commands[parts[6]]
	l.fake.mu.Unlock()
	switch {
	case c == nil:
		refuse(w, http.StatusNotFound, "not_found", "Command not found.")
	case strings.HasSuffix(s.path, "/logs"):
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		c.follow(w, r, true)
	case strings.HasSuffix(s.path, "/kill"):
		c.process.Kill()
		answer(w, map[string]any{"command": c.said()})
	default:
		if r.URL.Query().Get("wait") == "true" {
			<-c.process.Done()
			for {
				if _, ok := c.next(1 << 30); !ok {
					break
				}
			}
		}
		answer(w, map[string]any{"command": c.said()})
	}
}

// mkdir makes a folder that belongs to root inside machines, as a new drive does.
func mkdir(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return os.Chown(path, machine.FirstID, machine.FirstID)
}
