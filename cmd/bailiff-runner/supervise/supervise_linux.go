package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/processes"
)

// supervisor is this process when it looks after commands, one after another.
type supervisor struct {
	in  *wire.Reader
	out *wire.Writer
	// job collects the message that starts the next command.
	job []byte
	now *command
	// changes tells of children that ended.
	changes <-chan os.Signal
}

// maxThreads is more threads than a supervisor ever needs at once.
const maxThreads = 4

// Run serves the runner until it goes away, then ends what is left.
func Run() {
	lowerPriority()
	processes.StartThreads(maxThreads)
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, syscall.SIGCHLD)
	s := &supervisor{in: wire.NewReader(flow.File(0)), out: wire.NewWriter(os.Stdout), changes: changes}
	for {
		f, err := s.in.Next()
		if err != nil {
			s.abandon()
			return
		}
		s.obey(f)
	}
}

func (s *supervisor) obey(f wire.Frame) {
	switch f.Kind {
	case wire.Start:
		s.job = append(s.job, f.Payload...)
		if f.Last {
			s.start(f.Stream)
		}
	case wire.Stdin:
		if s.serves(f.Stream) {
			s.now.feed(chunk{data: f.Payload, last: f.Last})
		}
	case wire.Feed, wire.Log:
		if i, err := wire.Decode[wire.Inquiry](f.Payload); err == nil && s.serves(f.Stream) {
			s.attend(f, i)
		}
	case wire.Break:
		if s.serves(f.Stream) {
			s.now.breakOff()
		}
	case wire.Credit:
		if n, err := wire.Decode[wire.Number](f.Payload); err == nil && s.serves(f.Stream) {
			s.now.credit.Add(int(n))
		}
	}
}

func (s *supervisor) attend(f wire.Frame, i wire.Inquiry) {
	if f.Kind == wire.Log {
		s.now.answer(i)
		return
	}
	s.now.feed(chunk{data: i.Data, asker: i.Asker, last: f.Last})
}

// serves is false for late words about an earlier command.
func (s *supervisor) serves(stream uint32) bool { return s.now != nil && s.now.stream == stream }

func (s *supervisor) start(stream uint32) {
	job, err := wire.Decode[wire.Job](s.job)
	s.job = nil
	if err == nil {
		s.now, err = begin(s.out, stream, job, s.changes)
	}
	if err != nil {
		s.now = nil
		refusal := wire.Refusal{Reason: startFault(err), Text: err.Error()}
		_ = s.out.Send(wire.Frame{Kind: wire.Refused, Stream: stream, Payload: wire.Encode(refusal)})
	}
}

// startFault is why a command was not started, or took no input.
func startFault(err error) wire.Reason {
	if processes.IsExhausted(err) || errors.Is(err, errMuchInput) {
		return wire.Full
	}
	return wire.Unfit
}

// abandon ends everything below when there is no client any more to report to.
func (s *supervisor) abandon() {
	if s.now == nil {
		return
	}
	for {
		processes.Kill(os.Getpid(), processes.None)
		select {
		case <-s.now.gone:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// searchPath is where programs without a folder in their name are looked for.
var searchPath = filepath.SplitList(wire.SearchPath)

func lookUp(name string) (string, error) {
	if strings.ContainsRune(name, '/') {
		return name, nil
	}
	for _, folder := range searchPath {
		path := filepath.Join(folder, name)
		if stat, err := os.Stat(path); err == nil && stat.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the sandbox has no program %q: its image, or the root that it shows, must have it", name)
}

// fork starts the job's program with the given files. It shares its working directory with this process.
func fork(job wire.Job, files []uintptr) (pid int, err error) {
	if len(job.Argv) == 0 {
		return 0, errors.New("there is no program to run")
	}
	path, err := lookUp(job.Argv[0])
	if err != nil {
		return 0, err
	}
	if stat, err := os.Stat(job.Dir); err != nil || !stat.IsDir() {
		return 0, fmt.Errorf("the sandbox has no folder %q to work in", job.Dir)
	}
	syscall.Umask(0o022)
	processes.Precisely(func() {
		pid, err = syscall.ForkExec(path, job.Argv, &syscall.ProcAttr{
			Dir: job.Dir, Env: job.Env, Files: files,
			Sys: &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_FS},
		})
	})
	if err != nil {
		return 0, fmt.Errorf("starting %s in %s: %w", path, job.Dir, err)
	}
	lowerAutogroup(pid)
	return pid, nil
}

// maxPath bounds a working directory.
const maxPath = 4096

// workingDirectory is where the command's first process stood at its end, empty
// if that is no place to start from.
func workingDirectory() string {
	var buf [maxPath]byte
	n, err := syscall.Getcwd(buf[:])
	if err != nil || n < 2 {
		return ""
	}
	path := string(buf[:n-1])
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return ""
	}
	return path
}
