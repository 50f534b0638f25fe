package env

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff"
)

func TestDotenvSyntax(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"a bare value", "A=b c", "b c"},
		{"blanks around", " A = b \t", "b"},
		{"export", "export A=b", "b"},
		{"a name that begins like export", "A=1\nexported=2", "1"},
		{"an empty value", "A=", ""},
		{"a comment after a blank", "A=b #c", "b"},
		{"a number sign within", "A=b#c", "b#c"},
		{"only a comment", "A= # c", ""},
		{"comments and blank lines around", "# x\n\n  # y=z\nA=b\n\n", "b"},
		{"Windows line ends", "A=b\r\nB=c\r\n", "b"},
		{"a byte order mark", "\ufeffA=b", "b"},
		{"single quotation marks keep all", `A='b "c" \n $X' # d`, `b "c" \n $X`},
		{"an escaped single mark", `A='b\'c\\d'`, `b'c\d`},
		{"double quotation marks have escapes", `A="b\n\t\"c\" \$X \q" # d`, "b\n\t\"c\" $X \\q"},
		{"lines within quotation marks", "A=\"b\nc\"\nB=d", "b\nc"},
		{"equals signs in a value", "A=b=c==", "b=c=="},
		{"marks within a bare value", `A=b"c'd`, `b"c'd`},
		{"nothing is expanded", "B=1\nA=$B${B}$(B)`B`", "$B${B}$(B)`B`"},
		{"nothing is expanded in double marks", `A="${B}$(x)"`, "${B}$(x)"},
		{"the last line counts", "A=b\nA=c", "c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(c.text)
			if value, ok := got["A"]; err != nil || !ok || value != c.want {
				t.Errorf("got %q (%v), %v; want %q", value, ok, err, c.want)
			}
		})
	}
}

func TestABadLineIsNamedByItsNumberAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		line       int
	}{
		{"no equals sign", "A=1\nhunter2hunter2\n", 2},
		{"no name", "\n\n=hunter2hunter2", 3},
		{"a name with a dash", "A-hunter2hunter2=x", 1},
		{"a mark never closed", "A=1\nB=\"hunter2hunter2\nC=2\n", 2},
		{"text after the closing mark", "A=\"x\"hunter2hunter2", 1},
		{"after a value of three lines", "A='x\ny\nz'\nhunter2hunter2", 4},
		{"a NUL byte", "A=hunter2\x00hunter2", 1},
		{"export alone", "export hunter2hunter2", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.text)
			s := must(Open([]string{"file:" + path}, ""))
			err := s.Err()
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s:%d: ", path, c.line)) {
				t.Fatalf("got %v, want line %d", err, c.line)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error quotes the line: %v", err)
			}
		})
	}
}

func TestTheFirstSourceThatHasANameWins(t *testing.T) {
	t.Setenv("ONE_OF_BOTH", "process")
	t.Setenv("EMPTY_IN_PROCESS", "")
	home := t.TempDir()
	path := filepath.Join(home, ".env")
	writeTo(t, path, "ONE_OF_BOTH=file\nONLY_FILE=file\nEMPTY_IN_PROCESS=file")
	for _, c := range []struct {
		sources       []string
		name, want    string
		isThere       bool
		alsoAvailable bool
	}{
		{[]string{"process", "file:~/.env"}, "ONE_OF_BOTH", "process", true, true},
		{[]string{"file:~/.env", "process"}, "ONE_OF_BOTH", "file", true, true},
		{[]string{"process", "file:" + path}, "ONLY_FILE", "file", true, true},
		{[]string{"process", "file:~/.env"}, "EMPTY_IN_PROCESS", "", true, true},
		{[]string{"process"}, "ONLY_FILE", "", false, false},
		{nil, "ONE_OF_BOTH", "", false, false},
	} {
		s := must(Open(c.sources, home))
		got, ok := s.Value(c.name)
		if ok != c.isThere || got.Reveal() != c.want {
			t.Errorf("%v, %s: got %q, %v", c.sources, c.name, got.Reveal(), ok)
		}
		if got := s.Available([]string{c.name, "NOWHERE", c.name}); len(got) > 1 || (len(got) == 1) != c.alsoAvailable {
			t.Errorf("%v, %s: available %v", c.sources, c.name, got)
		}
	}
}

func TestAFileIsReadWholeWithItsValuesKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), ".env")
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte("A=1\nexport B='two'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := Read(path)
	if err != nil || len(read) != 2 || read["A"].Reveal() != "1" || read["B"].Reveal() != "two" || fmt.Sprint(read["B"]) != "[secret]" {
		t.Errorf("got %v, %v", read, err)
	}
}

func TestUnknownSourcesAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "proces", "file:", "file:relative/.env", "/etc/env", "file:~other/.env"} {
		if _, err := Open([]string{name}, "/home/x"); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
}

func TestAFileIsReadAgainWhenItChanged(t *testing.T) {
	t.Parallel()
	path := write(t, "A_TOKEN=first-one")
	s := must(Open([]string{"file:" + path}, ""))
	before := s.Generation()
	replace(t, path, "A_TOKEN=other-one")
	if got, _ := s.Value("A_TOKEN"); got.Reveal() != "other-one" {
		t.Errorf("got %q", got.Reveal())
	}
	if s.Generation() == before {
		t.Error("the generation did not change")
	}
}

func TestAFileThatFailsHidesItselfAndAllAfterIt(t *testing.T) {
	t.Setenv("IN_PROCESS", "p")
	for _, c := range []struct {
		name string
		harm func(path string)
	}{
		{"vanished", func(path string) { os.Remove(path) }},
		{"became a folder", func(path string) { os.Remove(path); os.Mkdir(path, 0o700) }},
		{"became a named pipe", func(path string) { os.Remove(path); unix.Mkfifo(path, 0o600) }},
		{"got a bad line", func(path string) { replace(t, path, "IN_FILE=x\n???") }},
		{"everyone may write it", func(path string) { os.Chmod(path, 0o602) }},
		{"grew too large", func(path string) { replace(t, path, "IN_FILE="+strings.Repeat("x", maxFile)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "IN_FILE=f")
			first := must(Open([]string{"process", "file:" + path}, ""))
			last := must(Open([]string{"file:" + path, "process"}, ""))
			c.harm(path)
			if got := first.Available([]string{"IN_FILE", "IN_PROCESS"}); !slices.Equal(got, []string{"IN_PROCESS"}) {
				t.Errorf("behind the process: %v", got)
			}
			if got := last.Available([]string{"IN_FILE", "IN_PROCESS"}); len(got) != 0 {
				t.Errorf("before the process: %v", got)
			}
			if first.Err() == nil {
				t.Error("no error")
			}
			if os.RemoveAll(path); os.WriteFile(path, []byte("IN_FILE=again"), 0o600) != nil {
				t.Fatal("cannot mend the file")
			}
			if got, _ := first.Value("IN_FILE"); got.Reveal() != "again" || first.Err() != nil {
				t.Errorf("after it was mended: %q, %v", got.Reveal(), first.Err())
			}
		})
	}
}

func TestALooseFileIsWarnedAbout(t *testing.T) {
	t.Parallel()
	path := write(t, "A=b")
	s := must(Open([]string{"file:" + path}, ""))
	if got := s.Warnings(); len(got) != 0 {
		t.Errorf("0600: %v", got)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if got := s.Warnings(); len(got) != 1 || !strings.Contains(got[0], "chmod 600 "+path) {
		t.Errorf("0640: %v", got)
	}
}

func TestSecretsAreThoseThatLookItAndThoseHandedOut(t *testing.T) {
	t.Parallel()
	path := write(t, "GITHUB_TOKEN=g\nDB_PASS=d\nLANG=l\nREGION=r\nSSH_AUTH_SOCK=s\nAPI_KEY_FILE=f\nsmtp_password=p\nPWD=w")
	s := must(Open([]string{"file:" + path}, ""))
	if got, want := secrets(s), []string{"DB_PASS", "GITHUB_TOKEN", "smtp_password"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	before := s.Generation()
	s.Value("REGION")
	s.Value("NOWHERE")
	if got := secrets(s); !slices.Contains(got, "REGION") || slices.Contains(got, "NOWHERE") || s.Generation() == before {
		t.Errorf("after REGION was handed out: %v", got)
	}
}

func TestBothValuesOfANameAreSecret(t *testing.T) {
	t.Setenv("X_TOKEN", "process")
	s := must(Open([]string{"process", "file:" + write(t, "X_TOKEN=file")}, ""))
	var got []string
	for name, value := range s.Secrets() {
		if name == "X_TOKEN" {
			got = append(got, value.Reveal())
		}
	}
	if !slices.Equal(got, []string{"process", "file"}) {
		t.Errorf("got %v", got)
	}
}

func FuzzDotenv(f *testing.F) {
	f.Add("export A='b'\n#c\nB=\"\\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		variables, err := parse(text)
		if err != nil && len(variables) > 0 {
			t.Error("variables beside an error")
		}
		for name, value := range variables {
			if nameLength(name) != len(name) || name == "" || strings.ContainsRune(value, 0) {
				t.Errorf("bad variable %q", name)
			}
		}
	})
}

func secrets(s *Sources) []string {
	found := map[string]bool{}
	for name := range s.Secrets() {
		found[name] = true
	}
	return slices.Sorted(maps.Keys(found))
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".env")
	writeTo(t, path, text)
	return path
}

func writeTo(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace writes the file with a time of its own, so that a file system with
// coarse times shows the change.
func replace(t *testing.T, path, text string) {
	t.Helper()
	writeTo(t, path, text)
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

func must(s *Sources, err error) *Sources {
	if err != nil {
		panic(err)
	}
	return s
}

var _ interface {
	Available([]string) []string
	Value(string) (bailiff.Secret, bool)
} = (*Sources)(nil)
