package audit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// proceed tells the operator of a log that cannot be continued what to do.
const proceed = "; run \"bailiff audit verify\", keep a copy of the folders decisions and audit as evidence, and move both away to " +
	"begin a new log"

// recoverWriter returns a writer that continues the log, and how many bytes of a
// torn last line it cut off.
func recoverWriter(stateDir string, bounds *atomic.Pointer[Bounds]) (w *writer, torn int64, err error) {
	if err := makeFolders(stateDir); err != nil {
		return nil, 0, err
	}
	names, _, err := segments(stateDir)
	if err != nil {
		return nil, 0, err
	}
	key, h, err := anchor(stateDir, names)
	if err != nil {
		return nil, 0, err
	}
	w = &writer{dir: decisionsDir(stateDir), bounds: bounds, chain: newChain(key, h.Last), from: h.From, now: time.Now,
		at: position{h.Count, h.Last, h.Segment, h.Offset}}
	if torn, err = w.adopt(names); err != nil {
		return nil, 0, err
	}
	w.synced = w.at
	w.head, err = openHead(headPath(stateDir), key, w.at.head(w.from))
	return w, torn, err
}

// makeFolders makes the folders of the log, for the sidecar's user alone.
func makeFolders(stateDir string) error {
	for _, dir := range []string{decisionsDir(stateDir), filepath.Dir(keyPath(stateDir))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// anchor returns the key and the head. Both are made if there is no log yet, and
// only then.
func anchor(stateDir string, names []string) ([]byte, head, error) {
	key, err := readKey(stateDir)
	if errors.Is(err, fs.ErrNotExist) {
		if len(names) > 0 || exists(headPath(stateDir)) {
			return nil, head{}, errors.New("there is a log but no key to continue it with" + proceed)
		}
		key, err = makeKey(stateDir)
	}
	if err != nil {
		return nil, head{}, err
	}
	h, err := readHead(headPath(stateDir), key)
	if errors.Is(err, fs.ErrNotExist) && len(names) == 0 {
		return key, head{Last: origin}, nil
	}
	if err != nil {
		return nil, head{}, fmt.Errorf("reading the head: %w%s", err, proceed)
	}
	return key, h, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// makeKey makes the key so that it is never seen half written.
func makeKey(stateDir string) ([]byte, error) {
	key := make([]byte, keyLength)
	_, _ = rand.Read(key) // never fails
	file, err := os.OpenFile(keyPath(stateDir)+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(key)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return nil, err
	}
	if err := os.Rename(file.Name(), keyPath(stateDir)); err != nil {
		return nil, err
	}
	return key, records.Sync(filepath.Dir(keyPath(stateDir)))
}

// adopt verifies the lines beyond the head, moves on to the last of them and
// opens its segment.
func (w *writer) adopt(names []string) (torn int64, err error) {
	first := 0
	if w.at.count > 0 {
		if first = slices.Index(names, w.at.segment); first < 0 {
			return 0, fmt.Errorf("%s, which the head names, is missing%s", filepath.Join(w.dir, w.at.segment), proceed)
		}
		if err := w.checkHead(); err != nil {
			return 0, err
		}
	}
	for i, name := range names[first:] {
		if name != w.at.segment {
			w.at.segment, w.at.offset = name, 0
		}
		last := first+i == len(names)-1
		if torn, err = w.adoptSegment(last); err != nil {
			return 0, err
		}
	}
	return torn, w.reopen(torn)
}

// checkHead checks that the line the head speaks of is where it says; at the
// beginning of a segment there is none.
func (w *writer) checkHead() error {
	if w.at.offset == 0 {
		return nil
	}
	path := filepath.Join(w.dir, w.at.segment)
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	seal := make([]byte, sealLength+1)
	if _, err := file.ReadAt(seal, w.at.offset-int64(len(seal))); err != nil {
		return fmt.Errorf("%s is shorter than the head says, so lines were cut off%s", path, proceed)
	}
	_, hash, ok := sealOf(seal[:sealLength])
	if !ok || string(hash) != w.at.last || seal[sealLength] != '\n' {
		return fmt.Errorf("%s was changed before byte %d%s", path, w.at.offset, proceed)
	}
	return nil
}

func (w *writer) adoptSegment(last bool) (torn int64, err error) {
	path := filepath.Join(w.dir, w.at.segment)
	begun := w.at.offset
	torn, err = lines(path, begun, func(line []byte, end int64) error {
		if err := w.chain.follow(line); err != nil {
			return fmt.Errorf("%s, after byte %d: %w%s", path, w.at.offset, err, proceed)
		}
		w.at.count, w.at.last, w.at.offset = w.at.count+1, w.chain.last, end
		return nil
	})
	if err == nil && torn > 0 && !last {
		err = fmt.Errorf("%s ends within a line, although there are later ones%s", path, proceed)
	}
	return torn, err
}

// reopen opens the last segment for writing and cuts off a torn line.
func (w *writer) reopen(torn int64) error {
	if w.at.segment == "" {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(w.dir, w.at.segment), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if torn > 0 {
		err = file.Truncate(w.at.offset)
	}
	if err := errors.Join(err, file.Sync()); err != nil {
		return errors.Join(err, file.Close())
	}
	w.begun, _ = timeAt(file.Name(), 0) // long ago, if it cannot be read
	w.file = file
	return nil
}
