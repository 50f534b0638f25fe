package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/internal/approval/boltcheck"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// schema is the version of the records.
const schema = 1

// The buckets, and what is in them. Every record is its checksum and JSON.
var (
	itemBucket   = []byte("approvals") // number: item
	claimBucket  = []byte("claims")    // number: claimText
	grantBucket  = []byte("grants")    // id: held
	freezeBucket = []byte("freezes")   // kind and hash of the id: Freeze
	outboxBucket = []byte("outbox")    // number: api.Event
	sealBucket   = []byte("seal")      // "seal": seal
	buckets      = [][]byte{itemBucket, claimBucket, grantBucket, freezeBucket, outboxBucket, sealBucket}
	sealKey      = []byte("seal")
)

// seal is rewritten with every transaction.
type seal struct {
	Schema int `json:"schema"`
	// Sum is the exclusive or of all records' checksums, so that one that is
	// missing, old or foreign shows.
	Sum uint64 `json:"sum"`
	// Approvals and Events are the last numbers given out.
	Approvals uint64 `json:"approvals"`
	Events    uint64 `json:"events"`
}

// Records is the file on disk. One goroutine writes, any may read.
type Records struct {
	path string
	db   *bbolt.DB
	file *os.File
	seal seal
	// stuck says that bbolt panicked and may hold its locks for good.
	stuck atomic.Bool
}

// lockWait is how long another process may hold the file while it ends.
const lockWait = time.Second

// OpenRecords opens the file, or makes one if there never was one, and reads all of
// it. Its error says what to do.
func OpenRecords(path string) (*Records, *state.Contents, error) {
	s, c, err := openWhole(path)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the store of approvals %s: %w%s", path, err, repair(path))
	}
	return s, c, nil
}

func openWhole(path string) (*Records, *state.Contents, error) {
	if err := begin(path); err != nil {
		return nil, nil, err
	}
	s := &Records{path: path}
	c, err := s.open(path)
	if err == nil {
		err = mark(path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, c, nil
}

// errGone says that there was a store, whose freezes must not be forgotten.
var errGone = errors.New("it is gone, with every freeze, grant and pending approval")

// begin makes a store where there never was one.
func begin(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch _, err := os.Lstat(marker(path)); {
	case err == nil:
		return errGone
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := makeStore(path); err != nil {
		return fmt.Errorf("making %s: %w", path, err)
	}
	return nil
}

// marker is the file that says that there is a store, should it be gone.
func marker(path string) string { return path + ".made" }

// mark leaves the marker beside a store. It comes after the store, so that a
// crash in between is not taken for a loss.
func mark(path string) error {
	file, err := os.OpenFile(marker(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return records.Sync(filepath.Dir(path))
}

// makeStore makes an empty store so that it is never seen half written.
func makeStore(path string) error {
	making := path + ".new"
	if err := os.Remove(making); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := bbolt.Open(making, 0o600, options(func(path string, flag int, mode os.FileMode) (*os.File, error) {
		return os.OpenFile(path, flag|os.O_EXCL|unix.O_NOFOLLOW, mode)
	}))
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return putSeal(tx, seal{Schema: schema})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return replace(making, path)
}

// rewrite copies the file and puts the copy in its place. After a write failed,
// the kernel may take for written what never reached the disk; what is copied is
// written for certain.
func rewrite(path string) error {
	old, err := os.Open(path)
	if err != nil {
		return err
	}
	defer old.Close()
	making, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(making, old)
	if err := errors.Join(err, making.Sync(), making.Close()); err != nil {
		return errors.Join(err, os.Remove(making.Name()))
	}
	return replace(making.Name(), path)
}

func replace(from, path string) error {
	if err := os.Rename(from, path); err != nil {
		return err
	}
	return records.Sync(filepath.Dir(path))
}

func options(open func(string, int, os.FileMode) (*os.File, error)) *bbolt.Options {
	return &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType, PageSize: pageSize, OpenFile: open, NoStatistics: true}
}

// pageSize is the same on every machine, so that a file can be moved.
const pageSize = boltcheck.PageSize

// open opens and checks the file. A fault of bbolt, a panic too, is an error.
func (s *Records) open(path string) (c *state.Contents, err error) {
	defer s.recovered(&err)()
	open := func(path string, flag int, _ os.FileMode) (file *os.File, err error) {
		if file, err = os.OpenFile(path, flag&^os.O_CREATE|unix.O_NOFOLLOW, 0); err != nil {
			return nil, err
		}
		s.file = file
		return file, sound(file)
	}
	if s.db, err = bbolt.Open(path, 0o600, options(open)); err != nil {
		return nil, err
	}
	err = s.db.View(func(tx *bbolt.Tx) error {
		for fault := range tx.Check() {
			err = errors.Join(err, fault)
		}
		if err != nil {
			return err
		}
		c, s.seal, err = read(tx)
		return err
	})
	return c, err
}

var errDamaged = errors.New("the file was damaged while it was open")

// recovered makes a panic or a fault of memory an error.
func (s *Records) recovered(err *error) func() {
	return boltcheck.Guard(func(cause any) {
		s.stuck.Store(true)
		*err = fmt.Errorf("%w: %v", errDamaged, cause)
	})
}

// sound locks a file and looks at all of it before bbolt does.
func sound(file *os.File) error {
	if err := trusted(file); err != nil {
		return err
	}
	if err := lock(file); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return boltcheck.File(file, info.Size())
}

// lock waits a little for a process that is about to end.
func lock(file *os.File) error {
	for end := time.Now().Add(lockWait); ; time.Sleep(lockWait / 20) {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if time.Now().After(end) {
			return errors.New("it is in use by another process")
		}
	}
}

// trusted refuses a file that another user may have written.
func trusted(file *os.File) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		return err
	}
	switch {
	case stat.Mode&unix.S_IFMT != unix.S_IFREG:
		return errors.New("it is not a regular file")
	case int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d, not to bailiff's user %d", stat.Uid, os.Geteuid())
	case stat.Mode&0o077 != 0:
		return fmt.Errorf("others may use it (mode %04o): chmod 600 it", stat.Mode&0o777)
	}
	return nil
}

// Close lets go of the file, even when bbolt cannot: its lock goes with it.
func (s *Records) Close() error {
	if s.db != nil && !s.stuck.Load() {
		return s.db.Close()
	}
	if s.file == nil {
		return nil
	}
	if err := s.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// write makes steps durable and returns the numbers of their events.
func (s *Records) write(steps []state.Step) (numbers []uint64, err error) {
	if s.stuck.Load() {
		return nil, errDamaged
	}
	if err := s.inPlace(); err != nil {
		return nil, err
	}
	defer s.recovered(&err)()
	next := s.seal
	err = s.db.Update(func(tx *bbolt.Tx) error {
		w := &writing{tx: tx, seal: &next}
		for _, t := range steps {
			w.step(t)
		}
		numbers = w.numbers
		return errors.Join(w.err, putSeal(tx, next))
	})
	if err == nil {
		s.seal = next
	}
	return numbers, err
}

// inPlace is nil if the file that is open is the one that the next start finds.
func (s *Records) inPlace() error {
	there, err := os.Lstat(s.path)
	if err != nil {
		return err
	}
	open, err := s.file.Stat()
	if err == nil && !os.SameFile(there, open) {
		err = fmt.Errorf("%s was replaced while it was open", s.path)
	}
	return err
}

// claim reads the text of a claim; found says whether there is one still.
func (s *Records) claim(seq uint64) (c state.ClaimText, found bool, err error) {
	if s.stuck.Load() {
		return c, false, errDamaged
	}
	defer s.recovered(&err)()
	err = s.db.View(func(tx *bbolt.Tx) error {
		record := tx.Bucket(claimBucket).Get(number(seq))
		if found = record != nil; !found {
			return nil
		}
		text, err := verified(claimBucket, number(seq), record)
		if err == nil {
			err = state.Strict(text, &c)
		}
		if err != nil {
			return fmt.Errorf("%w: claim %d: %w", errDamaged, seq, err)
		}
		return nil
	})
	return c, found, err
}

// ClaimText is the text of a claim; nil if there is none any more.
func (s *Records) ClaimText(seq uint64) (text []byte, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		record := tx.Bucket(claimBucket).Get(number(seq))
		if record == nil {
			return nil
		}
		found, err := verified(claimBucket, number(seq), record)
		text = append(text, found...)
		return err
	})
	return text, err
}
