package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// pollEvery is how often a followed log is looked at.
const pollEvery = 200 * time.Millisecond

// Selection says which lines of a log are given.
type Selection struct {
	// Last is how many of those that are there, at most.
	Last int
	// Since leaves out the events before it, unless it is zero.
	Since time.Time
	// Match says whether a line is given; nil gives every one.
	Match func(line []byte) (bool, error)
	// Follow goes on with those that are added, until the context ends.
	Follow bool
}

// Tail gives the last lines of the log that are selected, without line breaks and
// valid during the call. It reads a log that is in use, or of a sidecar that is gone.
// What retention removes meanwhile is left out.
func Tail(ctx context.Context, stateDir string, s Selection, give func(line []byte) error) error {
	t := &tail{Selection: s, stateDir: stateDir, give: give}
	err := t.seek(ctx)
	for err == nil {
		if err = t.read(ctx); err != nil || !s.Follow {
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
	Selection
	stateDir string
	give     func([]byte) error
	at       Position
	skip     int // so many selected lines are more than the last
}

// read gives the selected of the whole lines from here to the log's end.
func (t *tail) read(ctx context.Context) error {
	return ReadFrom(ctx, t.stateDir, t.at, func(line []byte, end Position) error {
		t.at = end
		picked, err := t.picks(line)
		if err != nil || !picked {
			return err
		}
		if t.skip--; t.skip >= 0 {
			return nil
		}
		return t.give(line)
	})
}

// picks says whether a line is selected.
func (t *tail) picks(line []byte) (bool, error) {
	if !t.Since.IsZero() {
		if at, err := timeOf(line); err != nil || at.Before(t.Since) {
			return false, err
		}
	}
	if t.Match == nil {
		return true, nil
	}
	return t.Match(line)
}

// seek goes to where the last selected lines begin, or before them.
func (t *tail) seek(ctx context.Context) error {
	names, _, err := segments(t.stateDir)
	if err != nil {
		return err
	}
	left := t.Last
	for i := len(names) - 1; i >= 0; i-- {
		t.at.Segment = names[i]
		found, before, err := t.count(ctx, filepath.Join(decisionsDir(t.stateDir), t.at.Segment), left)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // retired since its folder was read, and all before it
		}
		t.skip = max(0, found-left)
		if err != nil || found >= left || before {
			return err
		}
		left -= found
	}
	return nil
}

// count is how many lines of a segment are selected, and whether those of segments
// before it are none since they are too old. Where every line is, it stops at the
// most that is wanted, and sets the offset where they begin.
func (t *tail) count(ctx context.Context, path string, most int) (found int, before bool, err error) {
	if t.Since.IsZero() && t.Match == nil {
		t.at.Offset, found, err = lastLines(path, most)
		return found, false, err
	}
	first, err := timeAt(path, 0)
	if err != nil {
		return 0, false, err
	}
	_, err = lines(path, 0, func(line []byte, _ int64) error {
		picked, err := t.picks(line)
		if picked {
			found++
		}
		return errors.Join(ctx.Err(), err)
	})
	return found, !first.IsZero() && first.Before(t.Since), err
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
