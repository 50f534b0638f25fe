package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// bounded is a runner that looks at a folder often.
func bounded(t *testing.T, most wire.Bound) *runner {
	t.Helper()
	r := &runner{out: wire.NewWriter(io.Discard)}
	r.bound.within, r.bound.over = 40*time.Millisecond, 10*time.Millisecond
	r.pool.slots = map[int]*slot{}
	r.bind(most)
	backendtest.Await(t, "the folder is counted", func() bool {
		r.bound.mu.Lock()
		defer r.bound.mu.Unlock()
		return r.bound.counted
	})
	return r
}

// runs makes a job one that runs, of no process. It is gone when it was killed for the bound.
func (r *runner) runs(t *testing.T, mode wire.Mode) *job {
	t.Helper()
	j := &job{Terms: wire.Terms{Mode: mode}, began: time.Now(), gone: make(chan struct{})}
	j.slot = &slot{pid: 1 << 30, job: j}
	r.pool.mu.Lock()
	r.pool.slots[1<<30+len(r.pool.slots)] = j.slot
	r.pool.mu.Unlock()
	r.watch()
	t.Cleanup(func() { j.close() })
	return j
}

func (j *job) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.isGone() {
		close(j.gone)
	}
}

func (j *job) isStopped() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.filling
}

// counts waits until a count that began after now has come to its end.
func (r *runner) counts(t *testing.T) {
	t.Helper()
	now := time.Now()
	backendtest.Await(t, "another count", func() bool {
		r.bound.mu.Lock()
		defer r.bound.mu.Unlock()
		return r.bound.begun.After(now) && r.bound.walk == nil
	})
}

func TestAFolderIsCountedWhileACommandRuns(t *testing.T) {
	root := t.TempDir()
	r := bounded(t, wire.Bound{Folder: root, Bytes: 1 << 20, Files: 10})
	j := r.runs(t, wire.Foreground)
	filled(t, filepath.Join(root, "small"), 100<<10)
	r.counts(t)
	if j.isStopped() {
		t.Fatal("a command was stopped within the bound")
	}
	filled(t, filepath.Join(root, "big"), 2<<20)
	backendtest.Await(t, "the command is stopped", j.isStopped)
	j.close()
	if x := r.overrun(j); !x.Stopped || x.Kind != wire.Bytes || x.Found < 2<<20 || x.Most != 1<<20 {
		t.Errorf("its end tells of %+v, want that it was stopped and why", x)
	}
	shrinks := r.runs(t, wire.Foreground)
	backendtest.Must(t, os.Truncate(filepath.Join(root, "big"), 1536<<10)) // at once: written anew it would be empty between two counts
	r.counts(t)
	r.counts(t)
	if x := r.overrun(shrinks); shrinks.isStopped() || x.Kind != wire.Bytes || x.Stopped {
		t.Errorf("a command that shrinks the folder was stopped: %v, and its end tells of %+v", shrinks.isStopped(), x)
	}
}

func TestAnInterpreterIsStoppedWhereAFolderGrowsAgain(t *testing.T) {
	root := t.TempDir()
	r := bounded(t, wire.Bound{Folder: root, Bytes: 1 << 20})
	command, interpreter := r.runs(t, wire.Background), r.runs(t, wire.Dialogue)
	filled(t, filepath.Join(root, "one"), 2<<20)
	backendtest.Await(t, "the command is stopped", command.isStopped)
	command.close()
	r.counts(t)
	r.counts(t)
	if interpreter.isStopped() {
		t.Fatal("the interpreter was stopped while the folder did not grow")
	}
	for i := range 2 {
		filled(t, filepath.Join(root, string(rune('a'+i))), 1<<20)
		r.counts(t)
	}
	backendtest.Await(t, "the interpreter is stopped", interpreter.isStopped)
}

func TestWhatIsHiddenFromACountTwiceIsOverTheBound(t *testing.T) {
	b := bound{most: wire.Bound{Files: 10}}
	hidden := &count{hidden: true, found: usage{files: 5}}
	first := b.verdictOf(hidden)
	b.last = first
	second := b.verdictOf(hidden)
	if first.excess.Kind != wire.Within || second.excess.Kind != wire.Uncounted || !second.isWorseThan(first) {
		t.Errorf("the first time it is %+v, and then %+v", first, second)
	}
	b.last = second
	if now := b.verdictOf(&count{found: usage{files: 20}}); now.excess.Kind != wire.Entries || now.excess.Found != 20 {
		t.Errorf("counted again it is %+v", now)
	}
}

// asOrdinary runs something that root has to obey the modes of its own files for.
func asOrdinary(t *testing.T, do func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var have [2]unix.CapUserData
		err := unix.Capget(&head, &have[0])
		have[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
		if err == nil {
			err = unix.Capset(&head, &have[0])
		}
		if err == nil {
			do()
		}
		done <- err
	}()
	backendtest.Must(t, <-done)
}

func TestAClosedFolderIsCountedAndStaysClosed(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "closed/inner")
	backendtest.Must(t, os.MkdirAll(inner, 0o700))
	filled(t, filepath.Join(inner, "file"), 1<<20)
	backendtest.Must(t, os.Chmod(inner, 0o200))
	backendtest.Must(t, os.Chmod(filepath.Dir(inner), 0))
	t.Cleanup(func() { backendtest.Must(t, os.Chmod(filepath.Dir(inner), 0o700)) })
	asOrdinary(t, func() {
		if got := counted(t, root, usage{}, nothing); got.files != 3 || got.bytes < 1<<20 {
			t.Errorf("it found %+v, want two folders and a file of 1 MiB", got)
		}
	})
	for folder, want := range map[string]os.FileMode{filepath.Dir(inner): 0, inner: 0o200} {
		if about, err := os.Stat(folder); err != nil || about.Mode().Perm() != want {
			t.Errorf("%s has the mode %v afterwards, %v; want %v", folder, about.Mode(), err, want)
		}
	}
}
