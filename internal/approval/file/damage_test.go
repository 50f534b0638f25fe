package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

func TestADamagedStoreIsRefused(t *testing.T) {
	whole := filled(t, t.TempDir())
	content, err := os.ReadFile(whole)
	backendtest.Must(t, err)
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
	held   *state.Contents
	claims []state.ClaimText
}

// told is what a store says when it is opened, or why it does not open.
func told(path string) (all saying, err error) {
	s, c, err := OpenRecords(path)
	if err != nil {
		return all, err
	}
	defer s.Close()
	all = saying{seal: s.seal, held: c}
	for _, i := range c.Items {
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
	backendtest.Must(t, err)
	whole, err := told(path)
	backendtest.Must(t, err)
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
		backendtest.Must(t, errors.Join(os.WriteFile(path, content, 0o600), flip(path, at)))
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
	backendtest.Must(t, err)
	s, c, err := OpenRecords(path)
	backendtest.Must(t, err)
	if _, err := s.write([]state.Step{{Ended: c.Grants[:1], Frozen: []state.Freeze{{Kind: "all"}}}}); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
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
			backendtest.Must(t, os.WriteFile(path, text, 0o600))
			if got, err := told(path); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("pages %b of %v, committed %v: %v", subset, changed, committed, err)
			}
		}
	}
}
