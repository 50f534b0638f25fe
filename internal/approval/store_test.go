package approval

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
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

func TestADamagedStoreIsRefused(t *testing.T) {
	whole := filled(t, t.TempDir())
	content, err := os.ReadFile(whole)
	must(t, err)
	write := func(text []byte) func(string) error {
		return func(path string) error { return os.WriteFile(path, text, 0o600) }
	}
	edit := func(change func(tx *bbolt.Tx) error) func(string) error {
		return func(path string) error {
			db, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				return err
			}
			return errors.Join(db.Update(change), db.Close())
		}
	}
	record := func(bucket []byte, from, to string) func(string) error {
		return edit(func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucket)
			key, old := b.Cursor().First()
			text := bytes.Replace(old[sumLength:], []byte(from), []byte(to), 1)
			sum := checksum(bucket, key, text)
			s, err := readSeal(tx)
			s.Sum ^= sum ^ sumOf(old)
			return errors.Join(err, b.Put(key, append(number(sum), text...)), putSeal(tx, s))
		})
	}
	for _, c := range []struct {
		name string
		harm func(path string) error
		says string
	}{
		{"an empty file", write(nil), "it is empty"},
		{"a text file", write([]byte(strings.Repeat("approvals: none\n", 4096))), "no store of bailiff's"},
		{"zeros", write(make([]byte, len(content))), "no store of bailiff's"},
		{"half of it", func(path string) error { return os.Truncate(path, int64(len(content)/2)) }, "it was cut off"},
		{"the first page only", func(path string) error { return os.Truncate(path, pageSize) }, "page 1: it is missing"},
		{"the newer of its first pages is damaged", func(path string) error { return flip(path, newerMeta(content)*pageSize+60) },
			"it is damaged"},
		{"the newer of its first pages is the older", func(path string) error {
			older := 1 - newerMeta(content)
			text := slices.Clone(content)
			copy(text[(1-older)*pageSize:(2-older)*pageSize], content[older*pageSize:])
			return os.WriteFile(path, text, 0o600)
		}, "it is damaged"},
		{"a record changed", edit(func(tx *bbolt.Tx) error {
			b := tx.Bucket(grantBucket)
			key, old := b.Cursor().First()
			return b.Put(key, bytes.Replace(old, []byte("ana"), []byte("eve"), 1))
		}), "in grants: the checksum does not fit"},
		{"a record moved", edit(func(tx *bbolt.Tx) error {
			b := tx.Bucket(freezeBucket)
			_, old := b.Cursor().First()
			return b.Put([]byte("session x"), bytes.Clone(old))
		}), "in freezes: the checksum does not fit"},
		{"a record taken away", edit(func(tx *bbolt.Tx) error {
			key, _ := tx.Bucket(freezeBucket).Cursor().First()
			return tx.Bucket(freezeBucket).Delete(bytes.Clone(key))
		}), "records are missing"},
		{"a record with a field that nobody knows", record(grantBucket, `"grant"`, `"extra":1,"grant"`), `unknown field "extra"`},
		{"a record with two documents", record(freezeBucket, `}`, `}{}`), "more than one document"},
		{"a bucket taken away", edit(func(tx *bbolt.Tx) error { return tx.DeleteBucket(freezeBucket) }), "it holds no freezes"},
		{"a bucket too many", edit(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte("others"))
			text := []byte("{}")
			return errors.Join(err, b.Put([]byte("k"), append(number(checksum([]byte("others"), []byte("k"), text)), text...)))
		}), "nothing is known of such records"},
		{"a bucket within a bucket", edit(func(tx *bbolt.Tx) error {
			_, err := tx.Bucket(grantBucket).CreateBucket([]byte("inner"))
			return err
		}), "the checksum does not fit"},
		{"of another version", edit(func(tx *bbolt.Tx) error { return putSeal(tx, seal{Schema: 2}) }),
			"it is of version 2, and this bailiff reads version 1"},
		{"another program's", func(path string) error {
			return errors.Join(os.Remove(path), func() error {
				db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: pageSize})
				return errors.Join(err, db.Close())
			}())
		}, "it holds no approvals"},
		{"one that others may read", func(path string) error { return os.Chmod(path, 0o640) },
			"others may use it (mode 0640): chmod 600 it"},
		{"one that a group may write", func(path string) error { return os.Chmod(path, 0o620) }, "others may use it (mode 0620)"},
		{"somebody else's", func(path string) error { return os.Chown(path, 4242, -1) }, "it belongs to user 4242"},
		{"a link", func(path string) error { return errors.Join(os.Remove(path), os.Symlink(whole, path)) }, "symbolic links"},
		{"a folder", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "is a directory"},
		{"a pipe", func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) }, "not a regular file"},
		{"one that is in use", func(path string) error {
			f, err := os.Open(path)
			t.Cleanup(func() { f.Close() })
			return errors.Join(err, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
		}, "in use by another process"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "approvals.db")
			if err := errors.Join(os.WriteFile(path, content, 0o600), c.harm(path)); err != nil {
				if errors.Is(err, os.ErrPermission) && os.Getenv("BAILIFF_REQUIRE_ALL") == "" {
					t.Skip("only root can do this harm:", err)
				}
				t.Fatal(err)
			}
			was := contentOf(path)
			refused(t, path, c.says)
			if is := contentOf(path); !bytes.Equal(was, is) {
				t.Error("the file was changed")
			}
		})
	}
}

func contentOf(path string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, _ := os.ReadFile(path)
	return text
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

// newerMeta is which of a file's first two pages is of the last step, by the number
// that each has.
func newerMeta(content []byte) int {
	const number = 64
	if binary.NativeEndian.Uint64(content[pageSize+number:]) > binary.NativeEndian.Uint64(content[number:]) {
		return 1
	}
	return 0
}

func flip(path string, at int) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, int64(at)); err != nil {
		return err
	}
	b[0] ^= 1 << rand.IntN(8)
	_, err = f.WriteAt(b, int64(at))
	return err
}

// saying is all that a store says.
type saying struct {
	seal   seal
	held   *contents
	claims []claimText
}

// told is what a store says when it is opened, or why it does not open.
func told(path string) (all saying, err error) {
	s, c, err := openStore(path)
	if err != nil {
		return all, err
	}
	defer s.close()
	all = saying{seal: s.seal, held: c}
	for _, i := range c.items {
		claim, _, err := s.claim(i.Seq)
		if err != nil {
			return all, err
		}
		all.claims = append(all.claims, claim)
	}
	return all, nil
}

func TestNoFlippedBitChangesWhatAStoreSays(t *testing.T) {
	backendtest.Long(t)
	path := filled(t, t.TempDir())
	content, err := os.ReadFile(path)
	must(t, err)
	whole, err := told(path)
	must(t, err)
	places := headers(content)
	for range 1500 {
		places = append(places, rand.IntN(len(content)))
	}
	if testing.Short() {
		rand.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
		places = places[:500]
	}
	found := 0
	for _, at := range places {
		must(t, errors.Join(os.WriteFile(path, content, 0o600), flip(path, at)))
		says, err := told(path)
		if err != nil {
			found++
		} else if !reflect.DeepEqual(says, whole) {
			t.Errorf("byte %d of page %d: what it says changed", at%pageSize, at/pageSize)
		}
	}
	t.Logf("%d of %d flips were found, the others were in bytes that nothing uses", found, len(places))
}

// headers are the places of what leads from page to page.
func headers(content []byte) []int {
	var places []int
	for page := 0; page < len(content); page += pageSize {
		if bytes.Equal(content[page:page+pageSize], make([]byte, pageSize)) {
			continue
		}
		for at := range 16 + 4*16 { // its header and the first elements
			places = append(places, page+at)
		}
	}
	return places
}

func TestAnyPartOfACommitThatReachesTheDiskLeavesTheStateBeforeOrAfter(t *testing.T) {
	dir := t.TempDir()
	path := filled(t, dir)
	before, _ := os.ReadFile(path)
	sayBefore, err := told(path)
	must(t, err)
	s, c, err := openStore(path)
	must(t, err)
	if _, err := s.write([]step{{ended: c.grants[:1], frozen: []freeze{{Kind: "all"}}}}); err != nil {
		t.Fatal(err)
	}
	s.close()
	after, _ := os.ReadFile(path)
	sayAfter, err := told(path)
	if err != nil || reflect.DeepEqual(sayAfter, sayBefore) {
		t.Fatal("nothing changed", err)
	}
	grown := append(slices.Clone(before), make([]byte, len(after)-len(before))...)
	var changed []int
	for page := 0; page < len(after)/pageSize; page++ {
		if at := page * pageSize; page > 1 && !bytes.Equal(grown[at:at+pageSize], after[at:at+pageSize]) {
			changed = append(changed, page)
		}
	}
	for subset := range 1 << len(changed) {
		for _, committed := range []bool{false, true} {
			if committed && subset != 1<<len(changed)-1 {
				continue // the first pages are written only when the others are on disk
			}
			text := slices.Clone(grown)
			for n, page := range changed {
				if subset&(1<<n) != 0 {
					copy(text[page*pageSize:], after[page*pageSize:(page+1)*pageSize])
				}
			}
			want := sayBefore
			if committed {
				want = sayAfter
				copy(text, after[:2*pageSize])
			}
			must(t, os.WriteFile(path, text, 0o600))
			if got, err := told(path); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("pages %b of %v, committed %v: %v", subset, changed, committed, err)
			}
		}
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

		time.Sleep(2 * mendDelay)
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
		time.Sleep(2 * sentDelay)
		f.failWrites()
		f.Freeze(t.Context(), api.Freeze{Kind: "all", By: "ben"})
		must(t, os.WriteFile(f.config.Path, before, 0o600))
		time.Sleep(2 * mendDelay)
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
			time.Sleep(2 * mendDelay)
		}
		must(t, os.Rename(away, f.config.Path))
		time.Sleep(2 * mendDelay)
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
		must(t, os.Truncate(f.config.Path, pageSize))
		if _, found := f.Get(id); found {
			t.Error("it was read")
		}
		if _, err := f.Answer(t.Context(), id, by("ana"), bailiff.Verdict{Approve: true}); !errors.Is(err, ErrStore) {
			t.Errorf("answered: %v", err)
		}
		if _, err := f.Ask(t.Context(), claim("rm", "x")); !errors.Is(err, ErrStore) {
			t.Errorf("asked: %v", err)
		}
		time.Sleep(2 * mendDelay)
		if err := f.Err(); !errors.Is(err, ErrStore) || !strings.Contains(err.Error(), "move the file and ") {
			t.Errorf("failure is %v", err)
		}
		f.Close()
	})
}
