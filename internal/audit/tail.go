package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// pollEvery is how often a followed log is looked at.
const pollEvery = 200 * time.Millisecond

// Tail gives the last n lines of the log, without line breaks and valid during
// the call, and if it is to follow the log, then those that are added until ctx
// ends. It reads a log that is in use, or of a sidecar that is gone.
func Tail(ctx context.Context, stateDir string, n int, follow bool, give func(line []byte) error) error {
	t := &tail{stateDir: stateDir, give: give}
	err := t.seek(n)
	for err == nil {
		if err = t.read(ctx); err != nil || !follow {
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollEvery):
		}
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("reading the decision log: %w", err)
	}
	return nil
}

// tail stands at the beginning of a line.
type tail struct {
	stateDir string
	give     func([]byte) error
	segment  string
	offset   int64
}

// read gives all whole lines from here to the log's end.
func (t *tail) read(ctx context.Context) error {
	names, _, err := segments(t.stateDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name < t.segment {
			continue
		}
		if name > t.segment {
			t.segment, t.offset = name, 0
		}
		if err := t.readSegment(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (t *tail) readSegment(ctx context.Context) error {
	path := filepath.Join(decisionsDir(t.stateDir), t.segment)
	if info, err := os.Stat(path); err != nil || info.Size() <= t.offset {
		return err
	}
	_, err := lines(path, t.offset, func(line []byte, end int64) error {
		t.offset = end
		return errors.Join(ctx.Err(), t.give(line))
	})
	return err
}

// seek goes to where the last n lines begin.
func (t *tail) seek(n int) error {
	names, _, err := segments(t.stateDir)
	if err != nil {
		return err
	}
	for i := len(names) - 1; i >= 0; i-- {
		t.segment = names[i]
		found := 0
		if t.offset, found, err = lastLines(filepath.Join(decisionsDir(t.stateDir), t.segment), n); err != nil || found == n {
			return err
		}
		n -= found
	}
	return nil
}

// lastLines is where the last n whole lines of a file begin, and how many there are.
func lastLines(path string, n int) (offset int64, found int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, 0, err
	}
	buf := make([]byte, 1<<16)
	breaks := 0 // the n lines begin after break n+1 from the end
	for end > 0 {
		size := min(end, int64(len(buf)))
		if _, err := file.ReadAt(buf[:size], end-size); err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
		for i := size - 1; i >= 0; i-- {
			if buf[i] != '\n' {
				continue
			}
			if breaks++; breaks == n+1 {
				return end - size + i + 1, n, nil
			}
		}
		end -= size
	}
	return 0, breaks, nil
}
