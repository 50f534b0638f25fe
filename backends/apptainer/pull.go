package apptainer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/host/subprocess"
)

// ways are the variables of the sidecar's that say how registries are reached. None
// of them is there when a sandbox is made.
var ways = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// fromRegistry has the program pull an image, and notes what the name stands for.
func (b *Backend) fromRegistry(ctx context.Context, name string) (string, error) {
	digest, err := b.work(ctx, name, func(into, folder string) error { return b.pull(ctx, name, into, folder) })
	if err != nil {
		return "", err
	}
	return digest, b.keep(b.note(name), digest)
}

func (b *Backend) pull(ctx context.Context, name, into, folder string) error {
	backends.Step(ctx, "pulling image %s", name)
	words := []string{"--nocolor", "pull", "--disable-cache"}
	if b.cfg.AuthFile != "" {
		if err := settings.IsSecret(b.cfg.AuthFile); err != nil {
			return fmt.Errorf("reading backends.apptainer.auth_file: %w", err)
		}
		words = append(words, "--authfile", b.cfg.AuthFile)
	}
	cmd := subprocess.Command(ctx, b.program, append(words, into, name)...)
	cmd.Env, cmd.Dir = b.environment(folder), folder
	for _, name := range ways {
		if value, given := os.LookupEnv(name); given {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	news, told := io.Pipe()
	cmd.Stderr = told
	ended := make(chan error, 1)
	go func() {
		_, err := subprocess.Output(ctx, cmd)
		told.Close()
		ended <- err
	}()
	last := follow(ctx, name, news)
	if err := <-ended; err != nil {
		return fmt.Errorf("%w: %s", err, last)
	}
	return nil
}

// follow tells of a pull what the program tells, and returns its last word.
func follow(ctx context.Context, name string, news io.Reader) (last string) {
	lines := bufio.NewReaderSize(news, 4096)
	for {
		line, err := lines.ReadSlice('\n')
		level, what, _ := strings.Cut(bailiff.Foreign(string(line)), ":")
		if what = strings.TrimSpace(what); what != "" && level == "INFO" {
			backends.Step(ctx, "pulling image %s: %s", name, what)
		} else if what != "" {
			last = what
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return last
		}
	}
}
