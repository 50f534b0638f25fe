package repository

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func FuzzIndex(f *testing.F) {
	const seed = "44495243000000020000000100000000000000000000000000000000000000000000000000000000000e000000000000000000000000" +
		"0000000000000000000000000000000000000000000000000001660000000000000000"
	for _, version := range []byte{2, 3, 4} {
		text, err := hex.DecodeString(seed)
		if err != nil {
			f.Fatal(err)
		}
		text[7] = version
		f.Add(append(text, make([]byte, sha1.Size)...))
		f.Add(append(text, make([]byte, sha256.Size)...))
	}
	all := func(string, uint32) bool { return true }
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, hash := range []int{sha1.Size, sha256.Size} {
			x := Index{text, hash}
			if link, err := x.check(); err != nil || link != nil {
				continue
			}
			again := x.Changed(func(e IndexEntry) *IndexEntry { return &e })
			if _, err := again.check(); err != nil || !reflect.DeepEqual(x.Entries(all), again.Entries(all)) {
				t.Errorf("of %+v are left %+v, %v", x.Entries(all), again.Entries(all), err)
			}
			if none := x.Changed(func(IndexEntry) *IndexEntry { return nil }); len(none.Entries(all)) > 0 {
				t.Errorf("of %+v are left %+v", x.Entries(all), none.Entries(all))
			}
		}
	})
}

// steps are how files come, change and go beside a shared index that stays.
var steps = []string{"true", "echo x >f7; echo x >f70; git add f7 f70", "git rm -q -f f9 f100 f101 f102", "echo n >n; git add n",
	"echo i >i; git add -N i; git update-index --assume-unchanged f3 --skip-worktree f4", "git rm -q --cached f2*; git add f20 f21",
	"for i in $(seq 1 3 300); do echo $i.$i >f$i; done; git add .",
	`b=$(echo c | git hash-object -w --stdin); printf "100644 $b 1\tc\n100644 $b 2\tc\n" | git update-index --index-info`}

func TestAnIndexInTwoFilesIsReadAsGitReadsIt(t *testing.T) {
	for format, version := range map[string]string{"sha1": "2", "sha256": "4"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			git := func(script string) string {
				cmd := exec.Command("sh", "-ec", script)
				cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
				said, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v: %s", script, err, said)
				}
				return string(said)
			}
			git("git init -q --object-format=" + format + "; git config index.version " + version + "; git config core.splitIndex true; " +
				"git config splitIndex.maxPercentChange 100; for i in $(seq 300); do echo $i >f$i; done; git add .; " +
				"git update-index --split-index")
			root, err := os.OpenRoot(filepath.Join(dir, ".git"))
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			for _, step := range steps {
				git(step)
				isReadAsByGit(t, root, map[string]int{"sha1": 20, "sha256": 32}[format], git)
			}
		})
	}
}

// isReadAsByGit compares what is read of the index with what git lists, and what git lists of it once it is in one file.
func isReadAsByGit(t *testing.T, root *os.Root, hash int, git func(string) string) {
	t.Helper()
	x, err := ReadIndex(root, "index", hash)
	if err != nil {
		t.Fatal(err)
	}
	var read strings.Builder
	for _, e := range x.Entries(func(string, uint32) bool { return true }) {
		fmt.Fprintf(&read, "%06o %s %d\t%s\n", e.Mode, e.Hash, e.Stage, e.Path)
	}
	if want := git("ls .git/sharedindex.* >/dev/null; git ls-files -s"); read.String() != want {
		t.Fatalf("it is read as\n%s\nwant\n%s", read.String(), want)
	}
	if err := os.WriteFile(filepath.Join(root.Name(), "one"), x.Text, 0o600); err != nil {
		t.Fatal(err)
	}
	const says = "git -c core.splitIndex=false ls-files -v -t -s"
	if one := git("export GIT_INDEX_FILE=.git/one; " + says); one != git(says) {
		t.Errorf("git reads of one file\n%s", one)
	}
}

func TestABitmapThatIsNotWholeIsRefused(t *testing.T) {
	whole := []byte{0, 0, 0, 70, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0, 0}
	bits, rest, err := bitmap(whole)
	if err != nil || len(rest) > 0 || len(bits) != 66 || !bits[0] || !bits[63] || !bits[64] || !bits[69] {
		t.Errorf("the bits are %v, %v", bits, err)
	}
	for i := 1; i < len(whole); i++ {
		if _, _, err := bitmap(whole[:i]); err == nil {
			t.Errorf("%d bytes of it are taken", i)
		}
	}
	if _, _, err := bitmap(append([]byte{0xff, 0xff, 0xff, 0xff}, whole[4:]...)); err == nil {
		t.Error("more bits than an index has entries are taken")
	}
}
