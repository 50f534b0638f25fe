package bailiff

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Tool is the kind of work a request asks for.
type Tool string

// The tools that bailiff judges and runs.
const (
	Terminal    Tool = "terminal"
	ExecuteCode Tool = "execute_code"
	Process     Tool = "process"
	// Call is a tool of the agent's own that a script of execute_code calls: it is
	// judged like any request, and the agent runs it. No client can send one.
	Call Tool = "call"
	// MCP is a tool of another server of the Model Context Protocol, which the sidecar
	// calls for a client that reaches the server through it.
	MCP Tool = "mcp"
)

// IsCallable says whether a script may be allowed to call a tool of that name:
// terminal, or one that an agent could have registered.
func IsCallable(name string) bool { return name == string(Terminal) || IsOwnTool(name) }

// MaxOwnTools bounds the tools of its own that an agent may offer a session's scripts.
const MaxOwnTools = 64

// IsOwnTool says whether an agent may give a tool of its own that name.
func IsOwnTool(name string) bool {
	switch Tool(name) {
	case Terminal, ExecuteCode, Process, Call, MCP:
		return false
	}
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return name != "" && len(name) <= 64 && strings.Contains(letters, name[:1]) && strings.Trim(name, letters+"0123456789_") == ""
}

// Request is one tool call of one session.
type Request struct {
	// ID makes the request idempotent within its caller and session; empty
	// means that it is not.
	ID      string  `json:"request_id,omitempty"`
	Tool    Tool    `json:"tool"`
	Args    Args    `json:"args"`
	Session Session `json:"session"`
	// Env lists the names of the variables that the caller would like to have.
	Env []string `json:"env,omitempty"`
	// Backend is the caller's wish; the policies may choose another.
	Backend string `json:"backend,omitempty"`
	// WaitSeconds is how long the caller waits for an approval.
	WaitSeconds int `json:"wait_seconds"`
	// Caller is the name of the listener the request came in by. It is set by
	// the gateway and never read from the request itself.
	Caller string `json:"-"`
	// Peer is the credential by which the request came in: a user's, see
	// [Credential], on a Unix socket, otherwise [LocalTCP] or [RemoteTCP]. It is set
	// by the gateway too.
	Peer string `json:"-"`
	// Folder is the working folder by its device and inode ("64769:12") where the client runs the request itself, on the
	// host: what the text runs can be looked at where the sidecar sees the same folder. It is set by the gateway too.
	Folder string `json:"-"`
	// Within says that a script makes the request, in whose own time it runs. It is set by the enforcer.
	Within bool `json:"-"`
}

// Args are the arguments of a tool; which of them may be set depends on the tool.
type Args struct {
	// Command, Background and Stdin belong to terminal. In a request of process that
	// writes, the command is what started the process: it is never read from the
	// request itself.
	Command    string `json:"command,omitempty"`
	Background bool   `json:"background,omitempty"`
	Stdin      string `json:"stdin,omitempty"`
	// Workdir is an absolute path inside the sandbox; empty means where the
	// session's last command ended.
	Workdir string `json:"workdir,omitempty"`
	// Timeout is in seconds; zero means the limit of the decision.
	Timeout int `json:"timeout,omitempty"`
	// Code and Reset belong to execute_code.
	Code  string `json:"code,omitempty"`
	Reset bool   `json:"reset,omitempty"`
	// Action, ProcessID and Data belong to process.
	Action    string `json:"action,omitempty"`
	ProcessID string `json:"process_id,omitempty"`
	Data      string `json:"data,omitempty"`
	// Typed is, in a request of process that writes, what the process had been given
	// before: it is never read from the request itself.
	Typed Typed `json:"typed,omitzero"`
	// Name and Arguments, the text of a JSON object, belong to call and mcp.
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	// Server is the one whose tool a request of mcp calls. In a request of terminal that the
	// sidecar makes, the command starts it: that is never read from the request itself.
	Server string `json:"server,omitempty"`
	// URL is where that server is reached, if nothing starts it: then the command only says for the
	// policies what is reached. It is never read from the request itself.
	URL string `json:"url,omitempty"`
	// Trusted says of a request of mcp that a person said yes to the server's list of tools as
	// it is now. It is never read from the request itself.
	Trusted bool `json:"trusted,omitempty"`
}

// MaxWorkdir bounds a working folder's path in bytes, as systems do.
const MaxWorkdir = 4096

// Typed is what a process has been given to read so far.
type Typed struct {
	// Opaque says that bailiff cannot tell any more what a text means to the process,
	// for what it read before may have changed that.
	Opaque bool `json:"opaque,omitempty"`
	// Digest stands for all of it, End is its last part.
	Digest string `json:"digest,omitempty"`
	End    string `json:"end,omitempty"`
}

// IsTyped says whether the arguments of a request of process hand it input.
func (a Args) IsTyped() bool { return a.Action == "write" || a.Action == "submit" }

// Session is the conversation that a request came from, as the agent claims it.
type Session struct {
	ID         string `json:"id"`
	Platform   string `json:"platform"`
	ChatType   string `json:"chat_type"`
	ChatID     string `json:"chat_id"`
	ThreadID   string `json:"thread_id"`
	UserID     string `json:"user_id"`
	UserName   string `json:"user_name"`
	Profile    string `json:"profile"`
	Unattended bool   `json:"unattended"`
	// Job is the scheduled or queued piece of work that the session is for, as its client names it; empty where a person began it.
	Job string `json:"job,omitempty"`
	// Agent is the one of the session's agents whose request it is; its zero value is the session's own.
	Agent Agent `json:"agent,omitzero"`
}

// Agent is one that another agent of its session started to do a part of the work.
type Agent struct {
	ID string `json:"id"`
	// Parent is the agent that started it; empty where the session's own did.
	Parent string `json:"parent,omitempty"`
	// Depth is how many agents stand between it and the person: 1 where the session's own started it.
	Depth int `json:"depth"`
}

// IsSub says that it is not the session's own.
func (a Agent) IsSub() bool { return a != Agent{} }

// String names it for people; the session's own has no name.
func (a Agent) String() string {
	if !a.IsSub() {
		return ""
	}
	return fmt.Sprintf("agent %s of depth %d", a.ID, a.Depth)
}

// MaxAgentDepth bounds the depth of agents.
const MaxAgentDepth = 16

// Digest is the SHA-256 of the request without its ID and waiting time, in
// hexadecimal: two requests with one digest ask for the same thing.
func (r Request) Digest() string {
	r.ID, r.WaitSeconds = "", 0
	text, err := json.Marshal(struct {
		Caller string
		Request
	}{r.Caller, r})
	if err != nil {
		panic(err) // strings, numbers and booleans only: cannot fail
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Circumstances are what a judgement depends on besides the request itself.
type Circumstances struct {
	// EnvAvailable lists those of the requested names that a source holds.
	EnvAvailable []string
	// Backends are the configured backends by name.
	Backends map[string]BackendState
	// Files are those that the request's text runs, as they are in the sandbox;
	// nil until they were read.
	Files []File
	// Contents are those of them whose text is judged as part of the request's.
	Contents []Content
	// Ground is what was found of the paths that the text names.
	Ground Ground
	// Scripts are those that ran before in the interpreter where the request's script is to run, the first one first.
	Scripts []string
	// History is what the session did before; nil where there is none to tell.
	History *SessionHistory
	// Requester is the person who asks.
	Requester Requester
	// Spent is what was used of budgets.
	Spent *Spent
	Time  time.Time
}

// BackendState is what is known of a configured backend when a request is judged.
type BackendState struct {
	Isolated bool `json:"isolated"`
	Ready    bool `json:"ready"`
	// Undo says that what the request would change of the host's folders there can be kept before, in a snapshot.
	Undo bool `json:"undo,omitempty"`
}
