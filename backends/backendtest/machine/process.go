package machine

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// Cmd is a program to start. Without a Dir it starts in /.
type Cmd struct {
	Argv []string
	Env  []string
	Dir  string
	// User is a uid, which is the gid too; zero is root.
	User int
}

// Process is a program that was started.
type Process struct {
	Stdin          io.WriteCloser
	Stdout, Stderr io.ReadCloser

	cmd    *exec.Cmd
	exited chan struct{}
	code   int
}

// Start starts a program. Who never reads what it writes holds it up.
func (m *Machine) Start(c Cmd) (*Process, error) {
	p := &Process{cmd: m.enter(c), exited: make(chan struct{})}
	if err := p.connect(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Argv[0], err)
	}
	go p.wait()
	return p, nil
}

// enter is a program that goes into the machine and is another one there.
func (m *Machine) enter(c Cmd) *exec.Cmd {
	dir := c.Dir
	if dir == "" {
		dir = "/"
	}
	id := strconv.Itoa(c.User)
	argv := append([]string{
		"--target", strconv.Itoa(m.init.Process.Pid), "--all", "--root", "--wdns=" + dir, "--setuid", id, "--setgid", id, "--",
	}, c.Argv...)
	cmd := exec.Command("nsenter", argv...)
	cmd.Env = append([]string{}, c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// connect starts the program on pipes of its own. They are files, so that nothing
// is lost of what is written before the end.
func (p *Process) connect() (err error) {
	if p.Stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return err
	}
	failed, theirErr, err := os.Pipe()
	if err != nil {
		return err
	}
	p.cmd.Stdout, p.cmd.Stderr, p.Stdout, p.Stderr = theirOut, theirErr, out, failed
	defer theirOut.Close()
	defer theirErr.Close()
	return p.cmd.Start()
}

func (p *Process) wait() {
	_ = p.cmd.Wait()
	p.code = p.cmd.ProcessState.ExitCode()
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.code = 128 + int(status.Signal())
	}
	close(p.exited)
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.exited }

// Wait waits for the program's end and returns its exit code, or 128 plus the
// signal that ended it.
func (p *Process) Wait() int {
	<-p.exited
	return p.code
}

// Kill kills the program, not what it started.
func (p *Process) Kill() {
	entered := fmt.Sprintf("/proc/%d/task/%[1]d/children", p.cmd.Process.Pid)
	children, _ := os.ReadFile(entered)
	for _, text := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(text); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = p.cmd.Process.Kill()
}

// Do runs a program to its end and returns what it wrote, with its exit code.
func (m *Machine) Do(ctx context.Context, c Cmd, stdin io.Reader) (output []byte, code int, err error) {
	cmd := m.enter(c)
	cmd.Stdin = stdin
	stop := context.AfterFunc(ctx, func() { (&Process{cmd: cmd}).Kill() })
	defer stop()
	output, err = cmd.CombinedOutput()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return output, exit.ExitCode(), ctx.Err()
	}
	return output, 0, err
}

// WriteFile writes a file as a user would, with the folders above it.
func (m *Machine) WriteFile(path string, content []byte, mode fs.FileMode, user int) error {
	const script = `mkdir -p "$(dirname "$1")" && cat >"$1" && chmod "$2" "$1"`
	cmd := Cmd{Argv: []string{"/bin/sh", "-c", script, "sh", path, fmt.Sprintf("%o", mode.Perm())}, Env: []string{"PATH=" + searchPath},
		User: user}
	return m.succeed(cmd, strings.NewReader(string(content)))
}

func (m *Machine) succeed(c Cmd, stdin io.Reader) error {
	out, code, err := m.Do(context.Background(), c, stdin)
	if err == nil && code != 0 {
		err = fmt.Errorf("%s ended with %d: %s", path.Base(c.Argv[0]), code, out)
	}
	return err
}

// ReadFile reads a file as root inside. [fs.ErrNotExist] says that there is none.
func (m *Machine) ReadFile(path string) ([]byte, error) {
	root, err := os.OpenRoot(m.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(strings.TrimPrefix(path, "/"))
}
