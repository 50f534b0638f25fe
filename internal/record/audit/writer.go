package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// writer appends lines to segments and keeps chain, files and head in step. It
// is not for concurrent use.
type writer struct {
	dir    string
	bounds *atomic.Pointer[Bounds]
	chain  *chain
	head   *headFile
	from   beginning
	now    func() time.Time
	file   disk      // nil before the first line
	begun  time.Time // when the segment got its first line
	at     position  // of the last line written
	synced position  // of the last line known to be on disk
	torn   bool      // there may be bytes beyond at
	broken error     // set for good
	buf    []byte
	// committed hears how every commit ended, of so many lines.
	committed func(lines int64, err error)
}

// disk is what a writer needs of a segment's file.
type disk interface {
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (os.FileInfo, error)
	Name() string
}

// position is the end of a line.
type position struct {
	count   int64
	last    string
	segment string
	offset  int64
}

// pendingLines is how many lines were written since the last commit.
func (w *writer) pendingLines() int64 { return w.at.count - w.synced.count }

// append writes the batch's lines, all or none.
func (w *writer) append(batch []entry) error {
	if w.broken != nil {
		return w.broken
	}
	if err := w.mend(); err != nil {
		return err
	}
	if err := w.rotate(batch); err != nil {
		return err
	}
	if err := w.checkSegments(); err != nil {
		return err
	}
	if w.at.offset == 0 {
		w.begun = w.now()
	}
	w.buf = w.buf[:0]
	for _, e := range batch {
		w.buf = w.chain.seal(w.buf, e.line)
	}
	if _, err := w.file.WriteAt(w.buf, w.at.offset); err != nil {
		w.back(w.at)
		return fmt.Errorf("writing the decision log: %w", err)
	}
	w.at.count += int64(len(batch))
	w.at.last = w.chain.last
	w.at.offset += int64(len(w.buf))
	if cap(w.buf) > 2*batchBytes {
		w.buf = nil
	}
	return nil
}

// back forgets what was written after p.
func (w *writer) back(p position) {
	w.at, w.chain.last, w.torn = p, p.last, true
	_ = w.mend() // else before the next line
}

// mend cuts off what a failed write left.
func (w *writer) mend() error {
	if !w.torn {
		return nil
	}
	if err := w.file.Truncate(w.at.offset); err != nil {
		return fmt.Errorf("cutting a partial line off the decision log: %w", err)
	}
	w.torn = false
	return nil
}

// commit brings what was written to the disk, if there is any, and tells how it ended.
func (w *writer) commit() error {
	n := w.pendingLines()
	if n == 0 {
		return nil
	}
	err := w.sync()
	w.committed(n, err)
	return err
}

// sync brings what was written to the disk, and the head up to it.
func (w *writer) sync() error {
	if w.broken != nil {
		return w.broken
	}
	if err := w.file.Sync(); err != nil {
		w.back(w.synced)
		return fmt.Errorf("bringing the decision log to the disk: %w", err)
	}
	if err := w.checkSegments(); err != nil {
		return err
	}
	w.synced = w.at
	if err := w.head.write(w.at.head(w.from)); err != nil {
		return fmt.Errorf("writing the decision log's head: %w", err)
	}
	return nil
}

// checkSegments finds a segment that something else removed, cut or added to. The
// writer then writes no more: to cut such a file would destroy evidence.
func (w *writer) checkSegments() error {
	info, err := w.file.Stat()
	if err != nil {
		return fmt.Errorf("looking at the decision log: %w", err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink == 0 || info.Size() != w.at.offset {
		w.broken = fmt.Errorf("%s was removed or changed by something else: find out by what, then restart bailiff", w.file.Name())
		w.at = w.synced
	}
	return w.broken
}

func (p position) head(from beginning) head {
	return head{Count: p.count, Last: p.last, Segment: p.segment, Offset: p.offset, From: from}
}

// rotate begins a new segment if the batch belongs into one.
func (w *writer) rotate(batch []entry) error {
	var size int64
	for _, e := range batch {
		size += int64(len(e.line) + sealLength + 1)
	}
	if w.file == nil || !w.takes(size) {
		return w.turn()
	}
	return nil
}

// takes says whether the segment that is open takes more bytes. One that holds
// nothing takes all.
func (w *writer) takes(size int64) bool {
	return w.at.offset == 0 || !w.over() && w.at.offset+size <= w.bounds.Load().SegmentBytes
}

// over says whether the open segment's time is.
func (w *writer) over() bool {
	age := w.bounds.Load().SegmentAge
	return !w.begun.UTC().Truncate(age).Equal(w.now().UTC().Truncate(age))
}

// expire closes a segment whose time is over although nothing is written.
func (w *writer) expire() error {
	if w.broken != nil || w.file == nil || w.at.offset == 0 || !w.over() {
		return w.broken
	}
	if err := w.mend(); err != nil {
		return err
	}
	return w.turn()
}

// turn closes the segment and begins the next one.
func (w *writer) turn() error {
	if err := w.commit(); err != nil {
		return err
	}
	return w.begin(segmentName(numberOf(w.at.segment)+1, w.now().UTC().Format(time.DateOnly)))
}

// beginAt has the head say, on disk, from where on the log goes.
func (w *writer) beginAt(from beginning) error {
	if w.broken != nil {
		return w.broken
	}
	if err := w.head.settle(w.synced.head(from)); err != nil {
		return fmt.Errorf("writing the decision log's head: %w", err)
	}
	w.from = from
	return nil
}

func (w *writer) begin(name string) error {
	file, err := os.OpenFile(filepath.Join(w.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("beginning a segment of the decision log: %w", err)
	}
	if err := records.Sync(w.dir); err != nil {
		return errors.Join(fmt.Errorf("beginning a segment of the decision log: %w", err), file.Close(), os.Remove(file.Name()))
	}
	if w.file != nil {
		_ = w.file.Close() // was synced
	}
	w.file = file
	w.at.segment, w.at.offset = name, 0
	w.synced = w.at
	return nil
}

func (w *writer) close() error {
	var err error
	if w.file != nil {
		err = w.file.Close()
	}
	return errors.Join(err, w.head.close())
}
