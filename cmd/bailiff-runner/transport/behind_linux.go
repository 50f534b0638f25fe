package transport

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/carrier"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
)

// OverText runs the rest of the arguments over a stream of text.
func OverText(rest []string) error {
	if err := makeRaw(0); err != nil {
		return fmt.Errorf("quieting the terminal: %w", err)
	}
	outside, err := carrier.TextInside(standard{flow.File(0), flow.File(1)})
	if err != nil {
		return err
	}
	return runBehind(rest, outside, outside)
}

// FromFiles runs the rest of the arguments with an input that comes as files.
func FromFiles(rest []string) error {
	if len(rest) == 0 {
		return errors.New("no folder is named for the input")
	}
	in, err := openInputFiles(rest[0])
	if err != nil {
		return err
	}
	return runBehind(rest[1:], in, flow.File(1))
}

// standard is this process's input and output.
type standard struct{ in, out *os.File }

func (s standard) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s standard) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s standard) Close() error                { return errors.Join(s.in.Close(), s.out.Close()) }

// runBehind starts this program again with the rest of its arguments, gives it its
// input and takes its output, and ends as it does. It has no variables.
func runBehind(rest []string, in io.Reader, out io.Writer) error {
	theirIn, to, err := os.Pipe()
	if err != nil {
		return err
	}
	from, theirOut, err := os.Pipe()
	if err != nil {
		return err
	}
	child, err := os.StartProcess("/proc/self/exe", append([]string{"bailiff-runner"}, rest...),
		&os.ProcAttr{Dir: "/", Env: []string{}, Files: []*os.File{theirIn, theirOut, os.Stderr}})
	if err != nil {
		return fmt.Errorf("starting what is inside: %w", err)
	}
	theirIn.Close()
	theirOut.Close()
	go func() {
		_, _ = io.Copy(to, in) // the end of either is the end of the runner
		to.Close()
	}()
	if _, err := io.Copy(out, from); err != nil { // no reader is left
		to.Close()
		from.Close()
	}
	state, err := child.Wait()
	if err != nil {
		return err
	}
	os.Exit(state.ExitCode())
	return nil
}

// makeRaw has a terminal pass bytes on as they are: no echo, no lines, no signals.
// What is no terminal is that already.
func makeRaw(fd int) error {
	settings, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil
	}
	settings.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	settings.Oflag &^= unix.OPOST
	settings.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	settings.Cflag &^= unix.CSIZE | unix.PARENB
	settings.Cflag |= unix.CS8
	settings.Cc[unix.VMIN], settings.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, unix.TCSETS, settings)
}
