// Package backends is the contract between the enforcer and the technologies
// that can hold a sandbox: what a sandbox must be like ([Spec]), who makes one
// ([Backend]) and what can be done with it ([Sandbox]). One package below this
// one implements it for each technology; package backendtest holds the suite
// that each must pass.
//
// A backend only makes the place and hands back a byte stream to the resident
// runner inside it; running commands, their time limits, killing their process
// trees and capping their output is written once, in package runner and the
// program bailiff-runner.
//
// What a backend promises: it meets every field of the Spec or refuses with an
// error that names the field; it never falls back to something less isolated;
// it passes no variable into the sandbox by itself; and no value of a variable
// ever stands in an argument vector, a label, an engine's configuration or an
// error text.
package backends

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Backend makes sandboxes of one technology.
type Backend interface {
	// Isolated says whether a command inside is kept from the host.
	Isolated() bool
	// Ready is nil, or says in one sentence why no sandbox can be made now. It
	// may talk to a daemon, so it is not for every request.
	Ready(ctx context.Context) error
	// Open makes a sandbox and waits until its runner answers.
	Open(ctx context.Context, spec Spec) (Sandbox, error)
}

// Resolver is a backend whose images have names that can come to mean something
// else. Resolve returns a reference that cannot (name@sha256:…, or an image id),
// bringing the image first if it is missing. The empty name stands for the
// image that the configuration of the backend names.
type Resolver interface {
	Resolve(ctx context.Context, image string) (string, error)
}

// Chooser is a backend whose sandboxes can be made by one of several runtimes, such as runc, crun or gVisor's
// runsc. Runtime is the one that a decision's name stands for: the configured one for the empty name,
// and empty where the configuration leaves it to the technology. A name that the configuration
// does not allow is an error that says so. Unusable are those that it allows and by which nothing can be made, each with the
// reason, as Ready found last.
type Chooser interface {
	Runtime(name string) (string, error)
	Unusable() map[string]error
}

// Lasting is a Resolver that is costly to ask, so that what it said is believed for
// as long as Lasts says.
type Lasting interface {
	Lasts() time.Duration
}

// Sweeper is a backend whose sandboxes can outlive the sidecar. Sweep removes
// all that belong to the owner, whatever their state, and returns how many. It
// spares those that are being opened, and those whose id keep wants; keep is
// asked after they were listed. Where the technology ends none by itself that is past
// its Expires, Sweep also removes such ones of other owners, whose sidecars may never
// come again, with time for clocks that differ and once no client speaks with them.
type Sweeper interface {
	Sweep(ctx context.Context, owner string, keep func(id string) bool) (int, error)
}

// Keeper is a backend whose workspaces outlive its sandboxes, and the sidecar.
// Workspaces lists the owner's by the names that specs gave them.
// RemoveWorkspace deletes the one that specs of the owner named so; one that is
// not there is no fault.
type Keeper interface {
	Workspaces(ctx context.Context, owner string) ([]string, error)
	RemoveWorkspace(ctx context.Context, owner, workspace string) error
}

// Clearer is a Keeper that puts the files of a workspace aside before it removes them, so that no
// later sandbox finds them even if the removal fails. Clear removes the files that are still aside.
type Clearer interface {
	Clear(ctx context.Context) error
}

// Installer is a backend that knows which programs its commands find by a name, and whether root installed them: they lie where
// root alone may write.
type Installer interface{ Installed(name string) bool }

// Starter is a backend that knows where commands begin that name no folder: on a host,
// where relative paths mean files that count. Start is absolute, and empty if it is not
// known.
type Starter interface{ Start() string }

// Shower is a backend whose sandboxes can show folders of this machine. Shows is nil if
// its configuration lets it show these.
type Shower interface {
	Shows(mounts []bailiff.Mount) error
}

// Lender is a backend whose sandboxes can show folders of the sidecar's own. Whose says who
// commands are; ok is false where its sandboxes are on another machine.
type Lender interface {
	Whose() (u User, ok bool)
}

// User is who commands in a sandbox are: the numbers on this machine, and those that they see.
type User struct{ UID, GID, InsideUID, InsideGID int }

// Adopter is a backend whose running sandboxes outlive the sidecar. Adopt attaches
// anew to the one of that id, which must have been made for an equal spec (of the
// same Owner, Session and Workspace too) and run still; foreground commands of an
// earlier sidecar end in it, background ones stay. Otherwise it is an error, and
// the sandbox is left to a sweep.
type Adopter interface {
	Adopt(ctx context.Context, id string, spec Spec) (Sandbox, error)
}

// Spec is what a sandbox must be like. Two equal specs may share a sandbox.
type Spec struct {
	// Owner identifies the sidecar (its state folder), Session the session it
	// serves; they label the sandbox and its workspace.
	Owner, Session string
	// Workspace names the files that outlive a sandbox of the session; specs
	// with one Workspace see the same /workspace. Empty means an empty one that
	// goes away with the sandbox. The backend shows the name to those who may look
	// at its files or volumes, so it should name no person.
	Workspace string
	Image     string
	// Runtime is what makes and runs the sandbox, by the name that a [Chooser] gave; empty means the technology's own.
	Runtime string `json:",omitempty"`
	// Network is "none", "full", or "egress": as "none", but that the sandbox is an
	// [Outlet].
	Network  string
	CPUs     float64
	MemoryMB int
	// DiskMB bounds what the sandbox may write; zero means that no bound is asked for.
	DiskMB int
	// WorkspaceMB, in MiB, and WorkspaceFiles, files and folders, are what may be in the workspace:
	// over it, what makes it grow is killed. Zero means no bound.
	WorkspaceMB, WorkspaceFiles int
	PIDs                        int
	ReadOnly                    bool
	Mounts                      []bailiff.Mount
	// Own are folders and files of the sidecar's own that are shown after the mounts, no matter what the
	// configuration lets policies show. No policy can name one, and only a [Lender] shows them.
	Own []bailiff.Mount `json:",omitempty"`
	// Places says which files and folders of this machine lie where mounts are shown within others: a mount goes with
	// what it lies on, so that a sandbox whose places are others now shows what they hid.
	Places string `json:",omitempty"`
	// Expires is the time after which anyone may remove the sandbox; its label, or the
	// technology itself, holds it.
	Expires time.Time
}

// Text is equal for equal specs alone. Without a runtime, mounts of the sidecar's own and places it is what it was when specs had
// none, so that sandboxes of that time, which have a digest of it, are found again.
func (s Spec) Text() string {
	text := fmt.Sprintf("%#v", s)
	if len(s.Own) == 0 {
		text = strings.Replace(text, ` Own:[]bailiff.Mount(nil),`, "", 1)
	}
	if s.Places == "" {
		text = strings.Replace(text, ` Places:"",`, "", 1)
	}
	if s.Runtime == "" {
		text = strings.Replace(text, ` Runtime:"",`, "", 1) // within a text the quotes would be escaped
	}
	return text
}

// Reader is a sandbox whose files can be read.
type Reader interface {
	// Read reads a plain file of at most so many bytes; a larger one is unread. A relative path is seen from dir, the empty dir being
	// the workspace.
	Read(ctx context.Context, dir, path string, most int) (bailiff.Content, error)
	// Match finds the files that match a pattern and were made within [bailiff.RecentlyMade]. "**" stands for folders at any
	// depth, but for hidden ones and node_modules. With stems the first part of the pattern is matched by the files alone whose names
	// up to a dot, and by the folders, or links to these, whose names are among them. All is false where there are too many to tell.
	Match(ctx context.Context, dir, pattern string, stems []string) (paths []string, all bool, err error)
	// Resolve finds the links on the way of paths, of which no part is followed by the system: at most 1,000 parts of all
	// paths. No pipe or device is opened, and nothing is mounted for it.
	Resolve(ctx context.Context, dir string, paths []string) (bailiff.Ground, error)
}

// Sandbox is one place in which commands run, with a runner inside.
type Sandbox interface {
	// ID is the technology's name for it, such as a container id.
	ID() string
	// Run runs one command to its end and hands its output, stdout and stderr in
	// the order written, to out, which is never called concurrently nor after
	// Run has returned. When ctx ends, the command and everything it started is
	// killed and Exit.Interrupted set. An error means that the sandbox failed,
	// not the command; it wraps [ErrNotStarted] when the command surely did not
	// start, and with it [ErrUnfit] or [ErrFull] when the sandbox is well.
	Run(ctx context.Context, cmd Command, out func([]byte)) (Exit, error)
	// Start starts a command in the background. The tag names it to a client that
	// attaches to the sandbox later. HeadBytes and TailBytes do not count: its
	// output goes to a log inside the sandbox, which holds what was written last.
	// Errors are those of Run.
	Start(ctx context.Context, cmd Command, tag string) (Process, error)
	// Processes lists the background commands that no client has forgotten, those
	// that were started before this sidecar attached among them.
	Processes(ctx context.Context) ([]Process, error)
	// Converse starts a command that talks with its caller besides what it prints:
	// it reads lines on descriptor 3 and writes lines on descriptor 4. HeadBytes
	// and TailBytes do not count. Errors are those of Run.
	Converse(ctx context.Context, cmd Command, hear Listener) (Dialogue, error)
	// Digest reads plain files of at most 64 MiB and returns each with the SHA-256 of its
	// content, in the order of paths, empty where there is no such file. Relative
	// paths are seen from dir, the empty dir being the workspace.
	Digest(ctx context.Context, dir string, paths []string) ([]bailiff.File, error)
	// Alive counts the processes that ended commands left behind.
	Alive(ctx context.Context) (int, error)
	// Kill ends all that Alive counts, and returns when they are gone.
	Kill(ctx context.Context) error
	// Done is closed when the sandbox can run nothing any more.
	Done() <-chan struct{}
	// Close stops everything inside and removes the sandbox, and its workspace
	// too when the spec named none: also when ctx has ended, and more than once. One that a
	// later run of the sidecar has is left alone, and the error wraps [ErrSuperseded]; where that
	// is not known it wraps [ErrOwnerUnknown].
	Close(ctx context.Context) error
}

// Process is a background command of a sandbox. It, its exit and its log stay
// until they are forgotten or the sandbox ends.
type Process interface {
	Tag() string
	// Write passes input on; it waits while the process does not read, until ctx ends.
	Write(ctx context.Context, data []byte) error
	// CloseInput ends the input.
	CloseInput(ctx context.Context) error
	// Log reads up to most bytes of the output from an offset on, fewer at its end.
	Log(ctx context.Context, offset int64, most int) (Piece, error)
	// Done is closed when the command has ended, or the sandbox was lost.
	Done() <-chan struct{}
	// Exit is how it ended, once Done is closed.
	Exit() Exit
	// Kill ends it with everything it started, and returns when that is gone.
	Kill(ctx context.Context) error
	// Forget gives up its log; of a command that runs still it is an error.
	Forget(ctx context.Context) error
}

// Piece is a part of a log.
type Piece struct {
	// From is where Data begins: beyond the offset asked for where the log does not
	// reach back so far.
	From int64
	Data []byte
	// Written counts all that was ever written.
	Written int64
}

// Listener hears a command that converses. Its methods are not called
// concurrently, nor after the Dialogue is done. What the command printed before
// it wrote a line is heard before that line; bytes may come in any pieces.
type Listener interface {
	Output(p []byte)
	// Line is one without its end; one of more than 8 MiB ends the command, unless the listener is a [LongListener].
	Line(line []byte)
}

// LongListener is told of lines of more than 8 MiB, too, and what they hold in between is dropped.
type LongListener interface {
	// LongLine has the first and the last bytes of one, up to 1 KiB each.
	LongLine(head, tail []byte)
}

// Dialogue is the caller's side of a command that converses.
type Dialogue interface {
	// Say writes one line, which must hold no line's end.
	Say(line []byte) error
	// Break ends all that the command's first process started, and sends SIGINT to
	// the process itself.
	Break() error
	// Kill ends it with everything it started, and returns when that is gone.
	Kill(ctx context.Context) error
	// Done is closed when the command has ended, or the sandbox was lost.
	Done() <-chan struct{}
	// Exit is how it ended, once Done is closed.
	Exit() Exit
}

// Command is one execution inside a sandbox.
type Command struct {
	// Argv is what to run, by absolute path or looked up in the sandbox's fixed PATH.
	Argv []string
	// Env is added to the fixed variables of the runner (PATH, HOME, …).
	Env map[string]bailiff.Secret
	// Workdir is absolute; empty means the sandbox's workspace. A folder that
	// does not exist is an error before anything runs.
	Workdir string
	Stdin   []byte
	// Timeout is when the whole tree is killed.
	Timeout time.Duration
	// HeadBytes of output are handed on as they come; of what follows, the last
	// TailBytes are handed on at the end, and Exit.Dropped counts what lay between.
	HeadBytes, TailBytes int
	// Reap kills, when the command has ended, what it left behind.
	Reap bool
	// Label is that of the address by which it leaves, as [OutletHost] has it, and 0 without one.
	// Connections of what it starts have it too, where programs take no proxy.
	Label uint32
}

// Exit is how a command ended.
type Exit struct {
	// Code is the command's own exit status, or 128 plus the signal that ended it.
	Code int
	// TimedOut and Interrupted say that the runner killed it.
	TimedOut, Interrupted bool
	// Lost says that the command was killed together with the process that looked
	// after it, from inside or for want of memory or processes.
	Lost bool
	// Starved says that the kernel killed a process while the command ran, since
	// the sandbox had used up its memory.
	Starved bool
	// Excess says by what the workspace was over its bound when it ended.
	Excess Excess
	// Dropped counts the bytes of output that were not handed on. It lies
	// between the first HeadBytes and the last TailBytes handed on.
	Dropped int64
	// Workdir is where the shell stood at its end, empty if that is not known.
	Workdir string
	// InWorkspace says that this is where commands start that name no folder.
	InWorkspace bool
	Duration    time.Duration
}
