// Package snapshot keeps what a command may change of the folders of the host that it may write, so that a person
// can see afterwards what it changed, and have it back.
//
// Each folder has a store of its own in the state folder: a repository of git that shares nothing with one of the
// project's, so that nothing that becomes of the project takes a snapshot away. Git works on it in a keeper (package keeper),
// which sees the folder read-only, takes the bytes of files as they are, and starts nothing. The first snapshot of a folder is made
// beside the work ([Store.Prepare]); the later ones cost what changed since.
//
// A snapshot has two parts: the files that are tracked or that git would add, and of those that git ignores the small
// ones. What it has not is named ([Unkept]), and a command that may change that gets no promise.
//
// Promised: what [Store.Before] kept is there for [Lasting], byte by byte, with its permissions and links; a full store
// promises nothing new, and gives nothing up. A path that becomes a link leads to nothing outside the folder. [Store.Undo]
// overwrites nothing that changed since, unless it is told to, follows no link, and can be undone itself.
//
// Not here: when a snapshot is due (policies), and who may look at one or undo (gateway).
package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// Lasting is how long a snapshot is kept.
const Lasting = 14 * 24 * time.Hour

// DefaultBytes is how much the snapshots of one folder may take.
const DefaultBytes = 2 << 30

// Jobs run git where it reaches nothing else.
type Jobs interface {
	Run(ctx context.Context, j keeper.Job) error
}

// Config says where snapshots are kept.
type Config struct {
	// Dir is a folder for them alone.
	Dir  string
	Jobs Jobs
	// MaxBytes is how much those of one folder may take; zero means [DefaultBytes].
	MaxBytes int64
	// Scrub takes known secrets out of what is kept of a command; nil leaves it as it is.
	Scrub func([]byte) []byte
	// Now is the time; nil means the clock's.
	Now func() time.Time
	Log *slog.Logger
}

// Store has the snapshots of all folders. It is safe for concurrent use.
type Store struct {
	config  Config
	entries *records.Store[Entry]
	running context.Context // ends with the store
	stop    context.CancelFunc
	work    sync.WaitGroup

	mu      sync.Mutex
	folders map[string]*folder
	kept    map[string]Entry
}

// Open opens the snapshots of a state folder. Callers must [Store.Close] it.
func Open(c Config) (*Store, error) {
	if c.Dir == "" || c.Jobs == nil {
		return nil, errors.New("snapshot config lacks Dir or Jobs")
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultBytes
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	entries, err := records.Open(records.Config[Entry]{Dir: filepath.Join(c.Dir, "commands"), Durable: true, Log: c.Log,
		Clean: func(e Entry) Entry { return e.scrubbed(c.Scrub) }})
	if err != nil {
		return nil, fmt.Errorf("opening the snapshots: %w", err)
	}
	s := &Store{config: c, entries: entries, folders: map[string]*folder{}, kept: map[string]Entry{}}
	s.running, s.stop = context.WithCancel(context.Background())
	all, err := entries.All()
	for _, e := range all {
		s.kept[e.ID] = e
	}
	if err == nil {
		s.expire()
		s.forget()
	}
	return s, err
}

// Close ends what goes on beside requests.
func (s *Store) Close() {
	s.stop()
	s.work.Wait()
}

// folder is a folder of the host with its snapshots.
type folder struct {
	path, dir string

	// busy is held while a snapshot is taken or put back. It is a channel, so that waiting for it can end.
	busy chan struct{}

	mu     sync.Mutex
	state  state
	watch  watch
	making bool
	// faults are those in a row.
	faults int
}

// state is what is known of a folder since its last snapshot; it is a file in its store.
type state struct {
	Folder string `json:"folder"`
	// Tree is the last snapshot, empty before the first.
	Tree string `json:"tree"`
	// Bytes are at least what the store takes, Files those in the last snapshot.
	Bytes int64     `json:"bytes"`
	Files int       `json:"files"`
	Taken time.Time `json:"taken"`
	// Fault is why there is none, in a sentence for people.
	Fault string `json:"fault,omitempty"`
}

func (s *Store) folder(path string) *folder {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.folders[path]; f != nil {
		return f
	}
	sum := sha256.Sum256([]byte(path))
	f := &folder{path: path, dir: filepath.Join(s.config.Dir, "folders", hex.EncodeToString(sum[:12])), busy: make(chan struct{}, 1)}
	f.state = state{Folder: path}
	f.watch = watch{ran: map[session][]string{}, running: map[*session]string{}, residents: map[session]func() bool{}}
	if text, err := os.ReadFile(f.statePath()); err == nil {
		var was state
		if json.Unmarshal(text, &was) == nil && was.Folder == path {
			f.state = was
		}
	}
	s.folders[path] = f
	return f
}

func (f *folder) statePath() string { return filepath.Join(f.dir, "state.json") }
func (f *folder) repo() string      { return filepath.Join(f.dir, "repo") }

// lock waits until nothing else works on a folder's snapshots.
func (f *folder) lock(ctx context.Context) error {
	select {
	case f.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *folder) unlock() { <-f.busy }

func (f *folder) now() state {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

func (f *folder) set(s state) error {
	f.mu.Lock()
	f.state = s
	f.mu.Unlock()
	text, err := json.Marshal(s)
	if err == nil {
		err = records.Write(f.statePath(), text, true)
	}
	return err
}

// Ready says whether a snapshot of each of the folders can be promised, as far as the last one tells.
func (s *Store) Ready(paths []string) bool {
	for _, path := range paths {
		now := s.folder(path).now()
		if now.Tree == "" || now.Fault != "" || now.Bytes >= s.config.MaxBytes {
			return false
		}
	}
	return len(paths) > 0
}

// Prepare has the first snapshot of folders made, beside the work.
func (s *Store) Prepare(paths []string) {
	s.expire()
	for _, path := range paths {
		f := s.folder(path)
		f.mu.Lock()
		due := !f.making && (f.state.Tree == "" || f.state.Fault != "") &&
			s.config.Now().Sub(f.state.Taken) >= f.rest() && s.running.Err() == nil
		f.making = f.making || due
		f.mu.Unlock()
		if due {
			s.work.Go(func() { s.prepare(f) })
		}
	}
}

const (
	// firstRest is how long after a fault the next first snapshot is tried, longestRest how long after many in a row: a command that
	// was in the way is soon over, and a folder that is too large stays so.
	firstRest   = 10 * time.Second
	longestRest = 10 * time.Minute
)

// rest is how long after the last fault the next try is due. The folder is locked.
func (f *folder) rest() time.Duration {
	if f.faults == 0 {
		return 0
	}
	return min(longestRest, firstRest<<min(f.faults-1, 10))
}

func (s *Store) prepare(f *folder) {
	faults := 0
	defer func() {
		f.mu.Lock()
		f.making, f.faults = false, faults
		f.mu.Unlock()
	}()
	if err := f.lock(s.running); err != nil {
		return
	}
	defer f.unlock()
	if _, err := s.take(s.running, f, s.config.MaxBytes); err != nil && s.running.Err() == nil {
		faults = f.faults + 1
		s.config.Log.Warn("no snapshot of a folder can be taken, so that what changes it is asked about", "folder", f.path, "error", err)
		now := f.now()
		now.Fault, now.Taken = err.Error(), s.config.Now()
		if err := f.set(now); err != nil {
			s.config.Log.Warn("the state of snapshots cannot be written", "folder", f.path, "error", err)
		}
	}
}
