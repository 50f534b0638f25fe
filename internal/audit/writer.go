package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// writer appends lines to segments and keeps chain, files and head in step. It
// is not for concurrent use.
type writer struct {
	dir    string
	limit  int64
	chain  *chain
	head   *headFile
	now    func() time.Time
	file   disk     // nil before the first line
	at     position // of the last line written
	synced position // of the last line known to be on disk
	torn   bool     // there may be bytes beyond at
	broken error    // set for good
	buf    []byte
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

// uncommitted is how many lines were written since the last commit.
func (w *writer) uncommitted() int64 { return w.at.count - w.synced.count }

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
	if err := w.undisturbed(); err != nil {
		return err
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

// commit brings what was written to the disk, and the head up to it.
func (w *writer) commit() error {
	if w.broken != nil {
		return w.broken
	}
	if err := w.file.Sync(); err != nil {
		w.back(w.synced)
		return fmt.Errorf("bringing the decision log to the disk: %w", err)
	}
	if err := w.undisturbed(); err != nil {
		return err
	}
	w.synced = w.at
	if err := w.head.write(w.at.head()); err != nil {
		return fmt.Errorf("writing the decision log's head: %w", err)
	}
	return nil
}

// undisturbed finds a segment that something else removed, cut or added to. The
// writer then writes no more: to cut such a file would destroy evidence.
func (w *writer) undisturbed() error {
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

func (p position) head() head {
	return head{Count: p.count, Last: p.last, Segment: p.segment, Offset: p.offset}
}

// rotate begins a new segment if the batch belongs into one.
func (w *writer) rotate(batch []entry) error {
	var size int64
	for _, e := range batch {
		size += int64(len(e.line) + sealLength + 1)
	}
	today := w.now().UTC().Format(time.DateOnly)
	if w.file != nil && dayOf(w.at.segment) == today && (w.at.offset == 0 || w.at.offset+size <= w.limit) {
		return nil
	}
	if w.uncommitted() > 0 {
		if err := w.commit(); err != nil {
			return err
		}
	}
	return w.begin(segmentName(numberOf(w.at.segment)+1, today))
}

func (w *writer) begin(name string) error {
	file, err := os.OpenFile(filepath.Join(w.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("beginning a segment of the decision log: %w", err)
	}
	if err := syncDir(w.dir); err != nil {
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

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
