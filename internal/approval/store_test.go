package approval

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/boltcheck"
)

// filled is the file of a closed book that holds something of everything.
func filled(t *testing.T, dir string) (path string) {
	t.Helper()
	f := open(t, func(c *Config) { c.Path = filepath.Join(dir, "approvals.db"); c.Caps = Caps{Session: 100, User: 100} })
	f.ask(claim("rm asked", "x"))
	for n := range 8 {
		f.ask(claim(fmt.Sprint("rm ", n), strings.Repeat("x", 2000)))
	}
	for _, scope := range []string{"once", "session", "always"} {
		f.approve(f.ask(claim("rm "+scope, scope)), "ana", scope)
	}
	for _, id := range []string{"s8", "s9"} {
		if _, err := f.Freeze(t.Context(), api.Freeze{Kind: "session", ID: id, By: "ben"}); err != nil {
			t.Fatal(err)
		}
	}
	f.journal.setBroken(true) // so that something waits in the outbox
	f.ask(claim("rm unlogged", "z"))
	f.Book.stop()
	must(t, f.Book.Close())
	return f.config.Path
}

// refused checks that a book does not open, says why, and how to proceed.
func refused(t *testing.T, path, says string) {
	t.Helper()
	c := configIn(filepath.Dir(path))
	b, err := Open(c)
	if err == nil {
		b.Close()
		t.Fatal("opened")
	}
	for _, part := range []string{path, says, path + ".made", "restore no older copy", "allows nothing that was denied",
		"freezes are lost too"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not said: %v", part, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("it is more than one line: %q", err)
	}
}

func TestAStoreThatIsGoneIsNotBegunAnewInSilence(t *testing.T) {
	path := filled(t, t.TempDir())
	if info, err := os.Lstat(path + ".made"); err != nil || info.Mode() != 0o600 {
		t.Errorf("the marker: %v, %v", info, err)
	}
	away := path + ".away"
	must(t, os.Rename(path, away))
	refused(t, path, "it is gone, with every freeze, grant and pending approval")
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was begun anew: %v", err)
	}
	must(t, os.Rename(away, path))
	if f := open(t, func(c *Config) { c.Path = path }); len(f.Freezes()) != 2 {
		t.Error("back in its place it is not what it was")
	} else if err := f.Book.Close(); err != nil {
		t.Fatal(err)
	}
	must(t, errors.Join(os.Remove(path), os.Remove(path+".made")))
	if f := open(t, func(c *Config) { c.Path = path }); len(f.Freezes()) != 0 {
		t.Error("a new one is not empty")
	}
}

func TestAStoreWithoutAMarkerGetsOne(t *testing.T) {
	path := filled(t, t.TempDir())
	must(t, os.Remove(path+".made"))
	f := open(t, func(c *Config) { c.Path = path })
	if _, err := os.Lstat(path + ".made"); err != nil || len(f.Freezes()) != 2 {
		t.Errorf("the marker: %v", err)
	}
}

func TestAStoreIsNeverSeenHalfMade(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "approvals.db")
	must(t, os.WriteFile(path+".new", []byte("half"), 0o600))
	f := open(t, func(c *Config) { c.Path = path })
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Error("what it was made from is left behind")
	}
	f.ask(claim("rm", "x"))
}

// failWrites makes every write to the open file fail, by putting one that can
// only be read under its number.
func (f *fixture) failWrites() {
	f.t.Helper()
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		f.t.Fatal(err)
	}
	for _, link := range open {
		if path, err := os.Readlink(link); err != nil || path != f.config.Path {
			continue
		}
		number, err := strconv.Atoi(filepath.Base(link))
		if err == nil {
			err = onlyRead(f.config.Path, number)
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
}

func onlyRead(path string, number int) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(syscall.Dup3(int(file.Fd()), number, syscall.O_CLOEXEC), file.Close())
}

func TestAStoreThatFailsGrantsNothingUntilItWorksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.approve(f.ask(claim("rm once", "x")), "ana", "once")
		f.approve(f.ask(claim("rm session", "y")), "ana", "session")
		pending := f.ask(claim("rm", "z"))
		awaited := make(chan bailiff.Approval, 1)
		go func() { awaited <- f.Await(t.Context(), pending) }()
		synctest.Wait()
		f.failWrites()

		if _, granted, err := f.Redeem(t.Context(), claim("rm once", "x")); granted || !errors.Is(err, ErrStore) {
			t.Errorf("granted %v, %v", granted, err)
		}
		_, errAsk := f.Ask(t.Context(), claim("rm new", "w"))
		_, errAnswer := f.Answer(t.Context(), pending, by("ana"), bailiff.Verdict{Approve: true})
		_, errFreeze := f.Freeze(t.Context(), api.Freeze{Kind: "all", By: "ben"})
		_, errThaw := f.Thaw(t.Context(), "all", "", by("ben"))
		_, errRevoke := f.Revoke(t.Context(), f.Grants()[0].ID, by("ben"))
		errVoid := f.Void(t.Context(), pending, "drift")
		for n, err := range []error{errAsk, errAnswer, errFreeze, errThaw, errRevoke, errVoid, f.Err()} {
			if !errors.Is(err, ErrStore) {
				t.Errorf("%d: %v", n, err)
			}
		}
		if _, _, err := f.Redeem(t.Context(), claim("not covered", "n")); !errors.Is(err, ErrStore) {
			t.Errorf("what is not covered: %v", err)
		}
		told, frozen := f.Frozen(bailiff.Session{ID: "any"})
		if _, found := f.Get(pending); found || f.Covered(claim("rm session", "y")) || !frozen ||
			!strings.Contains(told, "froze everything") {
			t.Errorf("it goes on: %q", told)
		}

		if !strings.Contains(told, "until the store works again") || strings.Contains(told, "until it is thawed") {
			t.Errorf("told is %q", told)
		}

		time.Sleep(2 * mendTime)
		if f.Err() != nil || f.state(pending) != bailiff.ApprovalPending {
			t.Errorf("it does not work again: %v", f.Err())
		}
		f.approve(pending, "ana", "once")
		if a := <-awaited; a.State != bailiff.ApprovalApproved {
			t.Errorf("awaited %+v", a)
		}
		if !f.redeem(claim("rm session", "y")) || !f.redeem(claim("rm once", "x")) || f.redeem(claim("rm once", "x")) {
			t.Error("what is on disk is not what is granted")
		}
		f.Close()
	})
}

func TestWhatBecomesOfAFailedWriteIsWhatIsOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		c := claim("rm", "x")
		f.approve(f.ask(c), "ana", "once")
		pending := f.ask(claim("rm 2", "y"))
		before, _ := os.ReadFile(f.config.Path)
		f.redeem(c)
		f.approve(pending, "ana", "once")
		// The disk says that both never happened, as after a failed write.
		time.Sleep(2 * forgetTime)
		f.failWrites()
		f.Freeze(t.Context(), api.Freeze{Kind: "all", By: "ben"})
		must(t, os.WriteFile(f.config.Path, before, 0o600))
		time.Sleep(2 * mendTime)
		if f.state(pending) != bailiff.ApprovalPending || !f.Covered(c) || len(f.Freezes()) != 0 {
			t.Errorf("memory was believed: %s", f.state(pending))
		}
		f.Close()
	})
}

func TestAStoreThatIsMovedAwayAcknowledgesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.approve(f.ask(claim("rm", "x")), "ana", "once")
		away := f.config.Path + ".away"
		must(t, os.Rename(f.config.Path, away))
		for range 3 {
			if _, err := f.Freeze(t.Context(), api.Freeze{Kind: "all", By: "ben"}); !errors.Is(err, ErrStore) {
				t.Errorf("got %v", err)
			}
			time.Sleep(2 * mendTime)
		}
		must(t, os.Rename(away, f.config.Path))
		time.Sleep(2 * mendTime)
		if f.Err() != nil || !f.redeem(claim("rm", "x")) {
			t.Errorf("back in its place: %v", f.Err())
		}
		f.Close()
	})
}

func TestAStoreThatIsDamagedWhileItIsOpenEndsNothingButItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		id := f.ask(claim(strings.Repeat("rm ", 10000), "x"))
		must(t, os.Truncate(f.config.Path, boltcheck.PageSize))
		if _, found := f.Get(id); found {
			t.Error("it was read")
		}
		if _, err := f.Answer(t.Context(), id, by("ana"), bailiff.Verdict{Approve: true}); !errors.Is(err, ErrStore) {
			t.Errorf("answered: %v", err)
		}
		if _, err := f.Ask(t.Context(), claim("rm", "x")); !errors.Is(err, ErrStore) {
			t.Errorf("asked: %v", err)
		}
		time.Sleep(2 * mendTime)
		if err := f.Err(); !errors.Is(err, ErrStore) || !strings.Contains(err.Error(), "move the file and ") {
			t.Errorf("failure is %v", err)
		}
		f.Close()
	})
}
