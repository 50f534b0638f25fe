package vercel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/runner/carrier"
	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

// line is the stream to a runner: what it says is read from the log of its command,
// what it is told is written into files.
type line struct {
	*carrier.BatchWriter
	said   *io.PipeReader
	logs   io.ReadCloser
	cancel context.CancelFunc
	last   headtail.Last // of standard error
}

// longestEntry bounds one entry of a log.
const longestEntry = 4 << 20

// writeTimeout is how long writing a file may take.
const writeTimeout = 20 * time.Second

// follow opens the line. It lasts longer than the context of who opens it.
func (s *sandbox) follow(ctx context.Context, command string) (*line, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	logs, err := s.backend.api.logs(life, s.machine, command)
	if !stop() && err == nil {
		logs.Close()
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	said, to := io.Pipe()
	l := &line{said: said, logs: logs, cancel: cancel}
	l.BatchWriter = carrier.NewFileWriter(func(number int, content []byte) error {
		ctx, cancel := context.WithTimeout(life, writeTimeout)
		defer cancel()
		return s.backend.api.write(ctx, s.machine, inputPath+"/"+carrier.FileName(number), 0o600, content)
	}, func(err error) { to.CloseWithError(fmt.Errorf("writing to the machine: %w", err)) })
	go func() { to.CloseWithError(l.listen(to)) }()
	return l, nil
}

// entry is one of a log: text, or a fault of the log itself.
type entry struct {
	Stream string          `json:"stream"`
	Data   json.RawMessage `json:"data"`
}

var errLogEnded = errors.New("the log of the runner has come to its end")

// listen passes on what the runner says until its log ends.
func (l *line) listen(to io.Writer) error {
	entries := bufio.NewScanner(l.logs)
	entries.Buffer(make([]byte, 64<<10), longestEntry)
	for entries.Scan() {
		if len(bytes.TrimSpace(entries.Bytes())) == 0 {
			continue
		}
		if err := l.take(entries.Bytes(), to); err != nil {
			return err
		}
	}
	if err := entries.Err(); err != nil {
		return fmt.Errorf("reading the log of the runner: %w", err)
	}
	return errLogEnded
}

func (l *line) take(text []byte, to io.Writer) error {
	var e entry
	var data string
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("reading the log of the runner: %w", err)
	}
	if e.Stream == "error" {
		return fmt.Errorf("reading the log of the runner: Vercel says %s", bailiff.Foreign(string(e.Data)))
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return fmt.Errorf("reading the log of the runner: %w", err)
	}
	if e.Stream != "stdout" {
		_, err := io.WriteString(&l.last, data)
		return err
	}
	_, err := io.WriteString(to, data)
	return err
}

// words continue a sentence.
func (l *line) words() string {
	if text := l.last.String(); text != "" {
		return fmt.Sprintf("; the machine said %q", text)
	}
	return ""
}

func (l *line) Read(p []byte) (int, error)  { return l.said.Read(p) }
func (l *line) Write(p []byte) (int, error) { return l.BatchWriter.Write(p) }

func (l *line) Close() error {
	l.cancel()
	_ = l.BatchWriter.Close() // neither fails
	_ = l.said.Close()
	return l.logs.Close()
}
