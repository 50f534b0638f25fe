package quota

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// work is what runs in a sandbox whose monitor looks at a folder often.
type work struct {
	*Monitor
	mu       sync.Mutex
	commands []*command
}

// command is a command of no process.
type command struct {
	began         time.Time
	isInterpreter bool
	mu            sync.Mutex
	isOver        bool
	excess        wire.Excess
}

func (c *command) Began() time.Time    { return c.began }
func (c *command) IsInterpreter() bool { return c.isInterpreter }

func (c *command) Stop(excess wire.Excess) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.excess = excess
}

func (c *command) stoppedFor() wire.Excess {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.excess
}

func (c *command) isStopped() bool { return c.stoppedFor() != wire.Excess{} }

func (c *command) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isOver = true
}

func (w *work) atWork() (list []Command) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.commands {
		c.mu.Lock()
		if !c.isOver {
			list = append(list, c)
		}
		c.mu.Unlock()
	}
	return list
}

func bounded(t *testing.T, most wire.Bound) *work {
	t.Helper()
	w := &work{}
	w.Monitor = New(w.atWork)
	w.within, w.over = 40*time.Millisecond, 10*time.Millisecond
	w.Bind(most)
	backendtest.Await(t, "the folder is counted", func() bool {
		w.Monitor.mu.Lock()
		defer w.Monitor.mu.Unlock()
		return w.counted
	})
	return w
}

// runs has a command run until the test ends it.
func (w *work) runs(t *testing.T, isInterpreter bool) *command {
	t.Helper()
	c := &command{began: time.Now(), isInterpreter: isInterpreter}
	w.mu.Lock()
	w.commands = append(w.commands, c)
	w.mu.Unlock()
	w.Watch()
	t.Cleanup(c.end)
	return c
}

// counts waits until a count that began after now has come to its end.
func (w *work) counts(t *testing.T) {
	t.Helper()
	now := time.Now()
	backendtest.Await(t, "another count", func() bool {
		w.Monitor.mu.Lock()
		defer w.Monitor.mu.Unlock()
		return w.begun.After(now) && w.walk == nil
	})
}

func TestAFolderIsCountedWhileACommandRuns(t *testing.T) {
	root := t.TempDir()
	w := bounded(t, wire.Bound{Folder: root, Bytes: 1 << 20, Files: 10})
	c := w.runs(t, false)
	filled(t, filepath.Join(root, "small"), 100<<10)
	w.counts(t)
	if c.isStopped() {
		t.Fatal("a command was stopped within the bound")
	}
	filled(t, filepath.Join(root, "big"), 2<<20)
	backendtest.Await(t, "the command is stopped", c.isStopped)
	c.end()
	if x := c.stoppedFor(); x.Kind != wire.Bytes || x.Found < 2<<20 || x.Most != 1<<20 {
		t.Errorf("it was stopped for %+v, want what is too much", x)
	}
	shrinks := w.runs(t, false)
	backendtest.Must(t, os.Truncate(filepath.Join(root, "big"), 1536<<10)) // at once: written anew it would be empty between two counts
	w.counts(t)
	w.counts(t)
	if x := w.AtEnd(); shrinks.isStopped() || x.Kind != wire.Bytes {
		t.Errorf("a command that shrinks the folder was stopped: %v, and its end tells of %+v", shrinks.isStopped(), x)
	}
}

func TestAnInterpreterIsStoppedWhereAFolderGrowsAgain(t *testing.T) {
	root := t.TempDir()
	w := bounded(t, wire.Bound{Folder: root, Bytes: 1 << 20})
	command, interpreter := w.runs(t, false), w.runs(t, true)
	filled(t, filepath.Join(root, "one"), 2<<20)
	backendtest.Await(t, "the command is stopped", command.isStopped)
	command.end()
	w.counts(t)
	w.counts(t)
	if interpreter.isStopped() {
		t.Fatal("the interpreter was stopped while the folder did not grow")
	}
	for i := range 2 {
		filled(t, filepath.Join(root, string(rune('a'+i))), 1<<20)
		w.counts(t)
	}
	backendtest.Await(t, "the interpreter is stopped", interpreter.isStopped)
}

func TestWhatIsHiddenFromACountTwiceIsOverTheBound(t *testing.T) {
	m := Monitor{most: wire.Bound{Files: 10}}
	hidden := &walk{hidden: true, found: usage{files: 5}}
	first := m.verdictOf(hidden)
	m.last = first
	second := m.verdictOf(hidden)
	if first.excess.Kind != wire.Within || second.excess.Kind != wire.Uncounted || !second.isWorseThan(first) {
		t.Errorf("the first time it is %+v, and then %+v", first, second)
	}
	m.last = second
	if now := m.verdictOf(&walk{found: usage{files: 20}}); now.excess.Kind != wire.Entries || now.excess.Found != 20 {
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
