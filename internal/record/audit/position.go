package audit

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Position is the end of a line of the log: so many bytes of a segment. The zero value
// is the beginning of the log.
type Position struct {
	Segment string `json:"segment"`
	Offset  int64  `json:"offset"`
}

// After says whether a position lies behind another.
func (p Position) After(other Position) bool {
	return cmp.Or(cmp.Compare(p.Segment, other.Segment), cmp.Compare(p.Offset, other.Offset)) > 0
}

// Written is the end of the last line that is known to be on disk. What lies behind it
// may be taken back.
func (l *Log) Written() Position {
	p := l.written.Load()
	return Position{p.segment, p.offset}
}

// WrittenSince is the beginning of the first segment that was written to after a moment; all that was recorded since lies behind it.
func WrittenSince(stateDir string, since time.Time) (p Position, err error) {
	names, _, err := segments(stateDir)
	for _, name := range names {
		info, missing := os.Stat(filepath.Join(decisionsDir(stateDir), name))
		if p.Segment = name; missing == nil && info.ModTime().After(since) {
			break
		}
	}
	return p, err
}

// ReadFrom gives every whole line behind a position, without its line break and valid
// during the call, with its end. What retention removes meanwhile is left out.
func ReadFrom(ctx context.Context, stateDir string, from Position, give func(line []byte, end Position) error) error {
	names, _, err := segments(stateDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name < from.Segment {
			continue
		}
		if name > from.Segment {
			from = Position{Segment: name}
		}
		if err := readSegment(ctx, stateDir, from, give); err != nil {
			return err
		}
	}
	return nil
}

func readSegment(ctx context.Context, stateDir string, from Position, give func([]byte, Position) error) error {
	path := filepath.Join(decisionsDir(stateDir), from.Segment)
	given := false
	_, err := lines(path, from.Offset, func(line []byte, end int64) error {
		given = true
		return errors.Join(ctx.Err(), give(line, Position{from.Segment, end}))
	})
	if !given && errors.Is(err, fs.ErrNotExist) {
		return nil // retired since its folder was read
	}
	return err
}
