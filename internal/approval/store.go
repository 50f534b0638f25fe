package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff"
)

// schema is the version of the records below.
const schema = 1

// The buckets, and what is in them. Every record is its checksum and JSON.
var (
	itemBucket   = []byte("approvals") // number: item
	claimBucket  = []byte("claims")    // number: claimText
	grantBucket  = []byte("grants")    // id: held
	freezeBucket = []byte("freezes")   // kind and hash of the id: Freeze
	outboxBucket = []byte("outbox")    // number: bailiff.Event
	sealBucket   = []byte("seal")      // "seal": seal
	buckets      = [][]byte{itemBucket, claimBucket, grantBucket, freezeBucket, outboxBucket}
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

// store is the file on disk. One goroutine writes, any may read.
type store struct {
	path string
	db   *bbolt.DB
	file *os.File
	seal seal
	// stuck says that bbolt panicked and may hold its locks for good.
	stuck atomic.Bool
}

// lockWait is how long another process may hold the file while it ends.
const lockWait = time.Second

// openStore opens the file, or makes one if there is none, and reads all of it.
func openStore(path string) (*store, *contents, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makeStore(path); err != nil {
			return nil, nil, fmt.Errorf("making %s: %w", path, err)
		}
	}
	s := &store{path: path}
	c, err := s.open(path)
	if err != nil {
		return nil, nil, errors.Join(err, s.close())
	}
	return s, c, nil
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
		for _, name := range append(buckets[:len(buckets):len(buckets)], sealBucket) {
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
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func options(open func(string, int, os.FileMode) (*os.File, error)) *bbolt.Options {
	return &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType, PageSize: pageSize, OpenFile: open, NoStatistics: true}
}

// pageSize is the same on every machine, so that a file can be moved.
const pageSize = 4096

// open opens and checks the file. Whatever bbolt stumbles over is an error.
func (s *store) open(path string) (c *contents, err error) {
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
func (s *store) recovered(err *error) func() {
	was := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(was)
		if p := recover(); p != nil {
			s.stuck.Store(true)
			*err = fmt.Errorf("%w: %v", errDamaged, p)
		}
	}
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
	return inspect(file, info.Size())
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

// trusted refuses a file that somebody else may have written.
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

// close lets go of the file, even when bbolt cannot: its lock goes with it.
func (s *store) close() error {
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
func (s *store) write(steps []step) (numbers []uint64, err error) {
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
func (s *store) inPlace() error {
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

// writing is a transaction on its way; its first error ends it.
type writing struct {
	tx      *bbolt.Tx
	seal    *seal
	numbers []uint64
	err     error
}

func (w *writing) step(t step) {
	for _, i := range t.items {
		w.seal.Approvals = max(w.seal.Approvals, i.Seq)
		w.putJSON(itemBucket, number(i.Seq), i)
	}
	for _, c := range t.claims {
		w.put(claimBucket, number(c.seq), c.text)
	}
	for _, i := range t.pruned {
		w.remove(itemBucket, number(i.Seq))
		w.remove(claimBucket, number(i.Seq))
	}
	for _, h := range t.grants {
		w.putJSON(grantBucket, []byte(h.Grant.ID), h)
	}
	for _, h := range t.ended {
		w.remove(grantBucket, []byte(h.Grant.ID))
	}
	for _, f := range t.frozen {
		w.putJSON(freezeBucket, f.key(), f)
	}
	for _, f := range t.thawed {
		w.remove(freezeBucket, f.key())
	}
	w.events(t)
}

func (w *writing) events(t step) {
	for _, n := range t.sent {
		w.remove(outboxBucket, number(n))
	}
	for _, e := range t.events {
		w.seal.Events++
		w.numbers = append(w.numbers, w.seal.Events)
		w.putJSON(outboxBucket, number(w.seal.Events), e)
	}
}

// key is of one length however long the id is.
func (f Freeze) key() []byte {
	sum := sha256.Sum256([]byte(f.ID))
	return append([]byte(f.Kind+" "), sum[:]...)
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func (w *writing) putJSON(bucket, key []byte, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	w.put(bucket, key, text)
}

func (w *writing) put(bucket, key, text []byte) {
	if w.err != nil {
		return
	}
	b := w.tx.Bucket(bucket)
	sum := checksum(bucket, key, text)
	w.seal.Sum ^= sumOf(b.Get(key)) ^ sum
	w.err = b.Put(key, append(binary.BigEndian.AppendUint64(make([]byte, 0, sumLength+len(text)), sum), text...))
}

func (w *writing) remove(bucket, key []byte) {
	if w.err != nil {
		return
	}
	b := w.tx.Bucket(bucket)
	w.seal.Sum ^= sumOf(b.Get(key))
	w.err = b.Delete(key)
}

const sumLength = 8

// checksum binds a record's text to its place.
func checksum(bucket, key, text []byte) uint64 {
	h := sha256.New()
	for _, part := range [][]byte{bucket, key} {
		_, _ = h.Write(number(uint64(len(part))))
		_, _ = h.Write(part)
	}
	_, _ = h.Write(text)
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// sumOf is the checksum that a record carries; none if there is no record.
func sumOf(record []byte) uint64 {
	if len(record) < sumLength {
		return 0
	}
	return binary.BigEndian.Uint64(record)
}

func putSeal(tx *bbolt.Tx, s seal) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	sum := checksum(sealBucket, sealKey, text)
	return tx.Bucket(sealBucket).Put(sealKey, append(number(sum), text...))
}

// contents is everything that a store held when it was opened.
type contents struct {
	items   []*item
	grants  []*held
	freezes []Freeze
	numbers []uint64
	events  []bailiff.Event
}

// state builds the indexes.
func (c *contents) state(last uint64) *state {
	s := newState()
	s.apply(step{items: c.items, grants: c.grants, frozen: c.freezes})
	s.sortResolved()
	s.seq = last
	return s
}

// read reads every record and holds it against its checksum, and all of them
// against the seal.
func read(tx *bbolt.Tx) (*contents, seal, error) {
	s, err := readSeal(tx)
	if err != nil {
		return nil, s, err
	}
	c := &contents{}
	var sum uint64
	err = tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if b == nil {
			return fmt.Errorf("%q is a record outside of the buckets", name)
		}
		if bytes.Equal(name, sealBucket) {
			return nil
		}
		return b.ForEach(func(key, record []byte) error {
			text, err := verified(name, key, record)
			if err == nil {
				err = c.take(name, key, text)
			}
			if err != nil {
				return fmt.Errorf("record %x in %s: %w", key, name, err)
			}
			sum ^= sumOf(record)
			return nil
		})
	})
	if err == nil && sum != s.Sum {
		err = errors.New("records are missing, or are not the newest")
	}
	return c, s, err
}

func readSeal(tx *bbolt.Tx) (s seal, err error) {
	for _, name := range append(buckets[:len(buckets):len(buckets)], sealBucket) {
		if tx.Bucket(name) == nil {
			return s, fmt.Errorf("it holds no %s", name)
		}
	}
	text, err := verified(sealBucket, sealKey, tx.Bucket(sealBucket).Get(sealKey))
	if err != nil {
		return s, fmt.Errorf("the seal: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("the seal: %w", err)
	}
	if s.Schema != schema {
		return s, fmt.Errorf("it is of version %d, and this bailiff reads version %d", s.Schema, schema)
	}
	return s, nil
}

// verified returns a record's text if its checksum fits.
func verified(bucket, key, record []byte) ([]byte, error) {
	if len(record) < sumLength || checksum(bucket, key, record[sumLength:]) != sumOf(record) {
		return nil, errors.New("the checksum does not fit")
	}
	return record[sumLength:], nil
}

func (c *contents) take(bucket, key, text []byte) error {
	switch string(bucket) {
	case string(itemBucket):
		i := &item{}
		c.items = append(c.items, i)
		return strict(text, i)
	case string(claimBucket):
		return strict(text, &claimText{})
	case string(grantBucket):
		h := &held{}
		c.grants = append(c.grants, h)
		return strict(text, h)
	case string(freezeBucket):
		var f Freeze
		err := strict(text, &f)
		c.freezes = append(c.freezes, f)
		return err
	case string(outboxBucket):
		var e outgoing
		err := strict(text, &e)
		c.numbers, c.events = append(c.numbers, binary.BigEndian.Uint64(key)), append(c.events, bailiff.Event(e))
		return err
	}
	return errors.New("nothing is known of such records")
}

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("it holds more than one document")
	}
	return nil
}

// claim reads the text of a claim; found says whether there is one still.
func (s *store) claim(seq uint64) (c claimText, found bool, err error) {
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
			err = strict(text, &c)
		}
		if err != nil {
			return fmt.Errorf("%w: claim %d: %w", errDamaged, seq, err)
		}
		return nil
	})
	return c, found, err
}
