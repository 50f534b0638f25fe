package snapshot_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/project/snapshot"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// failing are jobs of which the first one fails.
type failing struct {
	snapshot.Jobs
	runs atomic.Int32
}

func (f *failing) Run(ctx context.Context, j keeper.Job) error {
	if f.runs.Add(1) == 1 {
		return errors.New("a command is in the way")
	}
	return f.Jobs.Run(ctx, j)
}

func TestAFirstSnapshotThatFailsIsTriedAgainSoon(t *testing.T) {
	var late atomic.Int64
	jobs := &failing{}
	w := open(t, func(c *snapshot.Config) {
		jobs.Jobs, c.Jobs = c.Jobs, jobs
		c.Now = func() time.Time { return time.Unix(late.Load(), 0) }
	})
	w.Prepare([]string{w.dir})
	awaittest.Until(t, "the fault", func() bool { return jobs.runs.Load() == 1 })
	awaittest.Until(t, "the next try", func() bool {
		late.Add(10) // the store notes the time of a fault after the job has failed
		w.Prepare([]string{w.dir})
		return w.Ready([]string{w.dir})
	})
}

// racing replaces a file by a link to a secret while a snapshot is taken.
type racing struct {
	*keeper.Keeper
	before func()
}

func (r *racing) Run(ctx context.Context, j keeper.Job) error {
	if r.before != nil {
		r.before()
	}
	return r.Keeper.Run(ctx, j)
}

func TestAPathThatBecomesALinkLeadsNowhere(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("the secret of the host"), 0o600))
	var r *racing
	w := open(t, func(c *snapshot.Config) {
		k, _ := c.Jobs.(*keeper.Keeper)
		r = &racing{Keeper: k}
		c.Jobs = r
	})
	w.sh("echo x > a; mkdir d; echo y > d/secret")
	w.ready()
	for _, swap := range []string{"ln -sfn " + secret + " a", "rm -r d; ln -s " + filepath.Dir(secret) + " d"} {
		w.sh("rm -rf a d; mkdir d; echo x2 > a; echo y2 > d/secret")
		jobs := 0
		r.before = func() {
			if jobs++; jobs == 2 { // what to take is chosen
				w.sh(swap)
			}
		}
		_ = w.take()
		r.before = nil
	}
	must(t, filepath.WalkDir(w.config.Dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(at)
			if strings.Contains(string(text), "the secret of") {
				t.Errorf("%s has the secret", at)
			}
		}
		return err
	}))
}

// What is damaged of the last snapshot is made anew from the files, with their permissions; what commands before it changed stays undoable.
func TestADamagedStoreIsBegunAnew(t *testing.T) {
	for _, name := range []string{"state.json", "repo/files", "repo/in/modes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, nil)
			w.sh("echo '*.log' > .gitignore; echo l > x.log; echo 1 > a; echo 1 > b; echo 1 > c; chmod 600 *")
			w.ready()
			was := w.files()
			first := w.do("rm a")
			at, err := filepath.Glob(filepath.Join(w.config.Dir, "folders", "*", name))
			if err != nil || len(at) != 1 {
				t.Fatalf("the files are %q, %v", at, err)
			}
			must(t, os.WriteFile(at[0], []byte("damaged"), 0o600))
			w.reopen()
			if w.take() != nil {
				w.ready()
			}
			second := w.do("rm b x.log; chmod 644 c")
			for _, id := range []string{second, first} {
				if done := w.undo(id, false); len(done.Failed)+len(done.Changed) > 0 {
					t.Errorf("not back: %q %q", done.Failed, done.Changed)
				}
			}
			w.same(was)
		})
	}
}

func TestACommandWhoseEntryOrContentIsDamagedIsNotUndone(t *testing.T) {
	w := open(t, nil)
	w.sh("echo 1 > a; echo 2 > b")
	w.ready()
	first, second := w.do("rm a"), w.do("rm b")
	must(t, os.WriteFile(filepath.Join(w.config.Dir, "commands", first+".json"), []byte("damaged"), 0o600))
	objects, err := filepath.Glob(filepath.Join(w.config.Dir, "folders", "*", "repo", "objects", "0c", "*"))
	if err != nil || len(objects) != 1 { // of "2\n"
		t.Fatalf("the objects are %q, %v", objects, err)
	}
	must(t, os.Chmod(objects[0], 0o600))
	must(t, os.WriteFile(objects[0], []byte("damaged"), 0o600))
	w.reopen()
	if _, err := w.Find(t.Context(), first); !errors.Is(err, snapshot.ErrUnknown) {
		t.Errorf("the damaged entry: %v", err)
	}
	if done, err := w.Undo(t.Context(), second, nil, false, snapshot.Entry{ID: "u"}); err == nil {
		t.Errorf("without its content %q is back", done.Restored)
	}
	if len(w.files()) > 0 {
		t.Errorf("there is %q", w.files())
	}
}

func TestAnUndoingFollowsNoLink(t *testing.T) {
	w := open(t, nil)
	w.sh("mkdir d; echo was > d/f; mkdir .vscode; echo own > .vscode/f")
	w.ready()
	id := w.do("rm -r d")
	w.sh("ln -s .vscode d")
	done := w.undo(id, true)
	if len(done.Failed) != 1 || !strings.Contains(done.Failed[0], "d is no folder any more") {
		t.Errorf("it fails with %q", done.Failed)
	}
	if is := w.files(); !strings.HasSuffix(is[".vscode/f"], "own\n") {
		t.Errorf("a link led an undoing to %q", is[".vscode/f"])
	}
}
