package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// Sandbox is one that is let.
type Sandbox struct {
	// ID is the technology's name for it.
	ID      string `json:"id"`
	Backend string `json:"backend"`
	// Spec is the one it was made for, to the letter.
	Spec backends.Spec `json:"spec"`
	// Slot names the scope that it serves; Shared says that it is a user's.
	Slot   string `json:"slot"`
	Shared bool   `json:"shared,omitempty"`
	// Caller, Session, User and Peer are whose request had it made, Guests whose were in it.
	Caller  string            `json:"caller"`
	Session string            `json:"session"`
	User    string            `json:"user,omitempty"`
	Peer    string            `json:"peer,omitempty"`
	Guests  []bailiff.Session `json:"guests,omitempty"`
	// Persistent says that its workspace stays when it goes.
	Persistent bool      `json:"persistent,omitempty"`
	Since      time.Time `json:"since"`
	Expires    time.Time `json:"expires"`
	// Idle is how long it stays unused.
	Idle time.Duration `json:"idle_ns"`
	// Workdirs are where sessions' last commands ended.
	Workdirs  []Workdir `json:"workdirs,omitempty"`
	Processes []Process `json:"processes,omitempty"`
	// Interpreters are whose scripts have variables in it.
	Interpreters []Interpreter `json:"interpreters,omitempty"`
	// Variables are the names of those that commands in it or in its workspace got.
	Variables []string `json:"variables,omitempty"`
}

// Key names the entry.
func (s Sandbox) Key() string { return s.Backend + "-" + s.ID }

// Interpreter is whose scripts share an interpreter.
type Interpreter struct {
	Caller   string `json:"caller"`
	Session  string `json:"session"`
	Platform string `json:"platform"`
	User     string `json:"user"`
	Peer     string `json:"peer,omitempty"`
}

// Workdir is where a session's last command ended.
type Workdir struct {
	// Of names the session and its caller.
	Of   string `json:"of"`
	Path string `json:"path"`
	// InWorkspace says that it is where commands start that name no folder.
	InWorkspace bool `json:"in_workspace,omitempty"`
}

// Process is a background command in a sandbox.
type Process struct {
	// ID is its tag too.
	ID string `json:"id"`
	// Request started it; its text is kept without known secrets. Caller and Peer
	// are the request's own, which it does not show by itself.
	Request    bailiff.Request `json:"request"`
	Caller     string          `json:"caller"`
	Peer       string          `json:"peer,omitempty"`
	DecisionID string          `json:"decision_id"`
	// Lifted says that an operator's word started it.
	Lifted bool `json:"lifted,omitempty"`
	// Forwarded are the names of the variables that it got.
	Forwarded []string  `json:"forwarded,omitempty"`
	Started   time.Time `json:"started"`
	// Polled is how far its output was read, or a little less.
	Polled int64 `json:"polled,omitempty"`
	// Midline says that a line of its input may have been begun.
	Midline bool `json:"midline,omitempty"`
	// End is set once it has ended.
	End *End `json:"end,omitempty"`
}

// End is how a background command ended.
type End struct {
	At       time.Time      `json:"at"`
	Status   bailiff.Status `json:"status"`
	ExitCode int            `json:"exit_code"`
	Message  string         `json:"message,omitempty"`
	Written  int64          `json:"written"`
}

// scrubbed is the entry without known secrets. Only folders and what processes
// were started with are free text.
func (s Sandbox) scrubbed(scrub func([]byte) []byte) Sandbox {
	if scrub == nil {
		return s
	}
	s.Workdirs, s.Processes = slices.Clone(s.Workdirs), slices.Clone(s.Processes)
	var texts []*string
	for i := range s.Workdirs {
		texts = append(texts, &s.Workdirs[i].Path)
	}
	for i := range s.Processes {
		args := &s.Processes[i].Request.Args
		texts = append(texts, &args.Command, &args.Workdir, &args.Stdin)
	}
	for _, text := range texts {
		*text = string(scrub([]byte(*text)))
	}
	return s
}

// Workspace is a folder of files that stays when its sandbox goes.
type Workspace struct {
	Backend string `json:"backend"`
	// Name is the one that specs give it.
	Name string `json:"name"`
	// Slot names the scope that it belongs to; empty if it is not known any more.
	Slot string `json:"slot"`
	// Caller and Session are whose request had it made.
	Caller  string `json:"caller"`
	Session string `json:"session"`
	// Shared says that it is a user's, so that no session's end is its own.
	Shared bool      `json:"shared,omitempty"`
	Used   time.Time `json:"used"`
	// Variables are the names of those that commands in it got.
	Variables []string `json:"variables,omitempty"`
}

// Key names the entry.
func (w Workspace) Key() string { return w.Backend + "-" + w.Name }

// workspaceNamed is the entry of which only the name is left.
func workspaceNamed(key string, written time.Time) (Workspace, bool) {
	backend, name, ok := strings.Cut(key, "-")
	return Workspace{Backend: backend, Name: name, Used: written}, ok
}

// Project is a folder of the host to which sessions came: that of a project, or one in none.
type Project struct {
	// Name stands for the folder: the first half of the SHA-256 of its path, in hexadecimal.
	Name   string `json:"name"`
	Folder string `json:"folder"`
	// Declared are the files that the project declared before the first session came, in the form of package manifest.
	Declared []byte `json:"declared,omitempty"`
}

// ProjectAt is the entry of a folder by its path.
func ProjectAt(folder string, declared []byte) Project {
	sum := sha256.Sum256([]byte(folder))
	return Project{hex.EncodeToString(sum[:16]), folder, declared}
}

// Key names the entry.
func (p Project) Key() string { return p.Name }

// projectNamed is the entry of which only the name is left.
func projectNamed(key string, _ time.Time) (Project, bool) { return Project{Name: key}, true }
