package daytona

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	stand "github.com/bailiff-dev/bailiff/backends/backendtest/machine"
)

// daemonsEnv is what Daytona's service has in its environment, and so have the
// shells it starts.
var daemonsEnv = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TERM=xterm-256color",
	"DAYTONA_SANDBOX_ID=secret-of-the-daemon"}

// use does what the toolbox of one sandbox is asked for.
func (c *cloud) use(id string, about heard, w http.ResponseWriter, r *http.Request) {
	found := c.running(id)
	if found == nil {
		refuse(w, 404, "Sandbox is not running")
		return
	}
	query := r.URL.Query()
	switch about.operation {
	case "CreateFolder":
		c.does(found, w, 201, "mkdir", "-p", "-m", query.Get("mode"), query.Get("path"))
	case "UploadFile":
		c.upload(found, w, r)
	case "SetFilePermissions":
		c.does(found, w, 200, "chmod", query.Get("mode"), query.Get("path"))
	case "DownloadFile":
		c.download(found, w, query.Get("path"))
	case "ExecuteCommand":
		c.execute(found, w, r)
	case "CreatePtySession":
		c.openTerminal(found, w, r)
	case "ConnectPtySession":
		found.lines.connect(about.path["sessionId"], w, r)
	default:
		c.t.Errorf("the stand-in cannot %s", about.operation)
	}
}

// running is what a toolbox needs of a sandbox, nil if it does not run.
func (c *cloud) running(id string) *rented {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.rented[id]; r != nil && r.dto["state"] == "started" {
		r.boot(c)
		return &rented{machine: r.machine, lines: r.lines}
	}
	return nil
}

func (c *cloud) does(r *rented, w http.ResponseWriter, code int, argv ...string) {
	out, failed, err := r.machine.Do(context.Background(), stand.Cmd{Argv: argv, Env: daemonsEnv}, nil)
	if err != nil || failed != 0 {
		refuse(w, 400, string(out))
		return
	}
	w.WriteHeader(code)
}

func (c *cloud) upload(found *rented, w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("file")
	if err != nil {
		refuse(w, 400, err.Error())
		return
	}
	content, err := io.ReadAll(file)
	if err == nil {
		err = found.machine.WriteFile(r.URL.Query().Get("path"), content, 0o644, 0)
	}
	if err != nil {
		refuse(w, 400, err.Error())
		return
	}
	say(w, 200, map[string]any{})
}

func (c *cloud) download(found *rented, w http.ResponseWriter, path string) {
	content, err := found.machine.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		refuse(w, 404, "file not found")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(content)
}

func (c *cloud) execute(found *rented, w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Command, Cwd string
		Timeout      int
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Timeout <= 0 {
		c.t.Errorf("a command without a bound: %+v, %v", asked, err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(asked.Timeout)*time.Second)
	defer cancel()
	out, code, err := found.machine.Do(ctx, stand.Cmd{Argv: []string{"/bin/sh", "-c", asked.Command}, Dir: asked.Cwd, Env: daemonsEnv}, nil)
	if err != nil {
		refuse(w, 408, err.Error())
		return
	}
	say(w, 200, map[string]any{"exitCode": code, "result": string(out)})
}

func (c *cloud) openTerminal(found *rented, w http.ResponseWriter, r *http.Request) {
	var asked struct{ ID, Cwd string }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.ID == "" {
		refuse(w, 400, "session ID is required")
		return
	}
	// The program gives its child a terminal and passes everything on.
	process, err := found.machine.Start(stand.Cmd{Argv: []string{"/usr/bin/script", "-qfc", "/bin/bash -i -l", "/dev/null"}, Dir: asked.Cwd,
		Env: daemonsEnv})
	if err != nil || !found.lines.open(asked.ID, process) {
		refuse(w, 409, "PTY session already exists")
		return
	}
	say(w, 201, map[string]any{"sessionId": asked.ID})
}

// terminals are those of one sandbox.
type terminals struct {
	mu    sync.Mutex
	lines map[string]*line
}

// line is a terminal, with whoever is connected to it.
type line struct {
	process *stand.Process
	mu      sync.Mutex
	sockets map[*websocket.Conn]chan []byte
}

// What Daytona's service does: it reads so much at once, holds so many pieces back
// for one who does not read and then drops him, and takes messages no longer than
// that.
const (
	pieceBytes  = 4 << 10
	heldBack    = 256
	longestSent = 64 << 10
)

func newTerminals() *terminals { return &terminals{lines: map[string]*line{}} }

func (t *terminals) open(id string, process *stand.Process) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines[id] != nil {
		process.Kill()
		return false
	}
	l := &line{process: process, sockets: map[*websocket.Conn]chan []byte{}}
	t.lines[id] = l
	go l.broadcast()
	return true
}

func (l *line) broadcast() {
	for {
		piece := make([]byte, pieceBytes)
		n, err := l.process.Stdout.Read(piece)
		l.mu.Lock()
		for socket, queue := range l.sockets {
			select {
			case queue <- piece[:n]:
			default:
				go socket.Close(websocket.StatusPolicyViolation, "slow consumer")
				delete(l.sockets, socket)
			}
		}
		l.mu.Unlock()
		if err != nil {
			l.process.Wait()
			l.end(websocket.StatusInternalError, `{"exitCode":1,"exitReason":"non-zero exit"}`)
			return
		}
	}
}

func (l *line) end(code websocket.StatusCode, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for socket := range l.sockets {
		go socket.Close(code, reason)
	}
	clear(l.sockets)
}

func (t *terminals) connect(id string, w http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	l := t.lines[id]
	t.mu.Unlock()
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	ctx := context.Background()
	if l == nil {
		_ = socket.Write(ctx, websocket.MessageText, []byte(`{"type":"control","status":"error","error":"PTY session not found"}`))
		_ = socket.CloseNow()
		return
	}
	socket.SetReadLimit(longestSent)
	queue := make(chan []byte, heldBack)
	l.mu.Lock()
	l.sockets[socket] = queue
	l.mu.Unlock()
	gone, leave := context.WithCancel(ctx)
	defer leave()
	go func() {
		for {
			select {
			case piece := <-queue:
				if len(piece) > 0 && socket.Write(gone, websocket.MessageBinary, piece) != nil {
					return
				}
			case <-gone.Done():
				return
			}
		}
	}()
	_ = socket.Write(ctx, websocket.MessageText, []byte(`{"type":"control","status":"connected"}`))
	for {
		_, message, err := socket.Read(ctx)
		if err == nil {
			_, err = io.Copy(l.process.Stdin, bytes.NewReader(message))
		}
		if err != nil {
			l.mu.Lock()
			delete(l.sockets, socket)
			l.mu.Unlock()
			_ = socket.CloseNow()
			return
		}
	}
}

// cut breaks the connections to all terminals, as a network does.
func (t *terminals) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lines {
		l.mu.Lock()
		for socket := range l.sockets {
			_ = socket.CloseNow()
		}
		l.mu.Unlock()
	}
}

func (t *terminals) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, l := range t.lines {
		l.end(websocket.StatusGoingAway, "")
		l.process.Kill()
		delete(t.lines, id)
	}
}
