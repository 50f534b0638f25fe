// Package keeper runs git on what an agent may have written, where nothing that git starts reaches more
// than it is shown: a bubblewrap sandbox of its own, without network, without another process in it,
// and without a file of the host but programs and what a job binds.
//
// Promised: the environment is git's safe one (no configuration of system or user, no prompt, no lazy
// fetch, no replacement of objects); a job ends with its context, within [Longest] in any case, and
// everything that it started ends with it; memory, processes and what it says are bounded, and a program that says
// more is ended; what programs say on their standard error is read to its end, so that none waits for a reader, and
// is harmless in an error.
//
// Not here: which folders may be shown to which job. A program that binds a folder writable must not believe
// a word that comes out of a job over it before it is checked.
package keeper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/host/subprocess"
	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

// Longest is how long a job may take.
const Longest = time.Minute

const (
	// mostMemory is the address space of a process of a job, in KiB.
	mostMemory = 4 << 20
	// mostFile is how large a file that a job writes may be, in blocks of 512 bytes.
	mostFile = 4 << 21
)

// ErrOutput ends a job that says more than it may.
var ErrOutput = errors.New("says more than it may")

// Keeper starts jobs. It is safe for concurrent use.
type Keeper struct {
	bwrap string
	own   []string // what every sandbox is made with
}

// Bind shows a file or folder of the host at a path of the job. The target's folders are made.
type Bind struct {
	Source, Target string
	Writable       bool
}

// Job is one program to run.
type Job struct {
	Binds []Bind
	// Dir is the working folder, "/" if it is empty.
	Dir string
	// Args are the program and its arguments.
	Args []string
	// Env are variables, NAME=VALUE, beside those of git's safe environment.
	Env []string
	// Stdin may be nil, which is an empty one.
	Stdin io.Reader
	// Stdout takes up to MaxOutput bytes. It may be nil: then what is said is dropped, however long.
	Stdout    io.Writer
	MaxOutput int64
}

// Failure is a job that did not end well.
type Failure struct {
	Args []string
	// Stderr is the end of what was said on standard error, harmless and brief.
	Stderr string
	Err    error
}

func (f *Failure) Error() string {
	said := fmt.Sprintf("%s: %v", strings.Join(f.Args[:min(2, len(f.Args))], " "), f.Err)
	if f.Stderr != "" {
		said += ": " + f.Stderr
	}
	return said
}

func (f *Failure) Unwrap() error { return f.Err }

// safe are the variables of every job.
var safe = []string{
	"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C", "TMPDIR=/tmp",
	"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
	"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
}

// quiet are settings with which git starts nothing by itself.
var quiet = []string{
	"core.fsmonitor=false", "core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false", "protocol.allow=never",
	"core.alternateRefsCommand=", "core.sshCommand=false", "credential.helper=", "submodule.recurse=false",
	"diff.ignoreSubmodules=all", "core.attributesFile=/dev/null",
}

// GitArgs are the arguments of a git that starts nothing by itself, on a repository that is named
// and not looked for.
func GitArgs(gitDir string, args ...string) []string {
	all := []string{"git", "--git-dir=" + gitDir, "--no-pager"}
	for _, setting := range quiet {
		all = append(all, "-c", setting)
	}
	return append(all, args...)
}

// New finds what jobs need. The error says what this machine has not.
func New() (*Keeper, error) {
	for _, program := range []string{"git", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s is not installed", program)
		}
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, errors.New("bubblewrap is not installed")
	}
	own, err := sandbox()
	return &Keeper{bwrap: bwrap, own: own}, err
}

// sandbox are bwrap's arguments for what every job has. Without /proc, since one whose owner is root
// has settings of the kernel.
func sandbox() ([]string, error) {
	args := []string{
		"--unshare-all", "--unshare-user", "--disable-userns", "--uid", strconv.Itoa(os.Getuid()), "--gid", strconv.Itoa(os.Getgid()),
		"--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv", "--ro-bind", "/usr", "/usr",
		"--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives",
	}
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		to, err := os.Readlink(name)
		switch {
		case err == nil:
			args = append(args, "--symlink", to, name)
		case !errors.Is(err, os.ErrNotExist):
			args = append(args, "--ro-bind", name, name)
		}
	}
	args = append(args, "--dev", "/dev", "--remount-ro", "/dev", "--tmpfs", "/tmp", "--dir", "/nonexistent")
	return args, nil
}

// Run runs a job to its end. An error is a [Failure], but for one of the job itself.
func (k *Keeper) Run(ctx context.Context, j Job) error {
	if len(j.Args) == 0 {
		return errors.New("a job without a program")
	}
	args, err := k.arguments(j)
	if err != nil {
		return err
	}
	ctx, end := context.WithTimeout(ctx, Longest)
	defer end()
	var words headtail.Last
	out := &bound{to: j.Stdout, left: j.MaxOutput, end: end}
	cmd := subprocess.Command(ctx, k.bwrap, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = j.Stdin, out, &words
	cmd.WaitDelay = Longest // what it says ends with it, and is read to its end on a busy machine too
	runtime.LockOSThread()  // with whose end the job would end
	defer runtime.UnlockOSThread()
	program, err := subprocess.Start(cmd)
	if err == nil {
		err = program.Wait()
	}
	switch {
	case out.err != nil:
		err = out.err
	case ctx.Err() != nil:
		err = ctx.Err()
	}
	if err != nil {
		return &Failure{Args: j.Args, Stderr: bailiff.Foreign(words.String()), Err: err}
	}
	return nil
}

// limits starts a program within bounds that bwrap has no options for.
const limits = `ulimit -c 0 && ulimit -v %d && ulimit -f %d && exec "$@"`

func (k *Keeper) arguments(j Job) ([]string, error) {
	args := slices.Clone(k.own)
	for _, b := range j.Binds {
		if !filepath.IsAbs(b.Source) || !path.IsAbs(b.Target) {
			return nil, fmt.Errorf("binding %s at %s: both must be absolute", b.Source, b.Target)
		}
		option := "--ro-bind"
		if b.Writable {
			option = "--bind"
		}
		args = append(args, option, b.Source, b.Target)
	}
	for _, variable := range slices.Concat(safe, j.Env) {
		name, value, _ := strings.Cut(variable, "=")
		args = append(args, "--setenv", name, value)
	}
	dir := j.Dir
	if dir == "" {
		dir = "/"
	}
	args = append(args, "--remount-ro", "/", "--chdir", dir, "--", "sh", "-c", fmt.Sprintf(limits, mostMemory, mostFile), "sh")
	return append(args, j.Args...), nil
}

// bound ends a job that says too much.
type bound struct {
	to   io.Writer
	left int64
	end  func()
	err  error
}

func (b *bound) Write(p []byte) (int, error) {
	switch {
	case b.to == nil:
		return len(p), nil
	case b.err != nil:
		return 0, b.err
	case int64(len(p)) > b.left:
		b.err = ErrOutput
		b.end()
		return 0, b.err
	}
	b.left -= int64(len(p))
	n, err := b.to.Write(p)
	if err != nil {
		b.err = err
		b.end()
	}
	return n, err
}

// Output runs a job and is what it says, in up to max bytes.
func (k *Keeper) Output(ctx context.Context, j Job, limit int64) ([]byte, error) {
	var said bytes.Buffer
	j.Stdout, j.MaxOutput = &said, limit
	err := k.Run(ctx, j)
	return said.Bytes(), err
}
