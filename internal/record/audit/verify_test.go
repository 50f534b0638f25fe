package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// threeSegments makes a closed log of nine lines, three in each segment, and
// returns the segments' paths.
func threeSegments(t *testing.T, dir string) []string {
	t.Helper()
	l := open(t, Config{StateDir: dir})
	record(t, l, decision("0"))
	l.Limit(Bounds{SegmentBytes: 3*l.writer.at.offset + 100})
	for i := range 8 {
		record(t, l, decision(fmt.Sprint(i+1)))
	}
	must(t, l.Close())
	names, _, _ := segments(dir)
	if len(names) != 3 {
		t.Fatalf("segments %v", names)
	}
	for i := range names {
		names[i] = filepath.Join(dir, "decisions", names[i])
	}
	return names
}

// edit rewrites a file's lines.
func edit(t *testing.T, path string, change func(lines [][]byte) [][]byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	changed := change(bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")))
	last := len(changed) - 1
	if last >= 0 && !bytes.HasSuffix(changed[last], []byte("\n")) {
		changed[last] = append(changed[last], '\n')
	}
	must(t, os.WriteFile(path, bytes.Join(changed, nil), 0o600))
}

func TestVerifyNamesThePlaceWhereTheLogWasTamperedWith(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		harm    func(t *testing.T, s []string)
		segment int
		line    int
		says    string
	}{
		{"a letter is edited", func(t *testing.T, s []string) {
			edit(t, s[1], func(l [][]byte) [][]byte { l[1] = bytes.Replace(l[1], []byte("push"), []byte("pull"), 1); return l })
		}, 1, 2, "edited"},
		{"a hash is edited", func(t *testing.T, s []string) {
			edit(t, s[0], func(l [][]byte) [][]byte { l[0][len(l[0])-10] ^= 1; return l })
		}, 0, 1, "edited"},
		{"the hashes are taken away", func(t *testing.T, s []string) {
			edit(t, s[0], func(l [][]byte) [][]byte { l[2] = []byte("{}\n"); return l })
		}, 0, 3, "does not end with"},
		{"the first line is removed", func(t *testing.T, s []string) {
			edit(t, s[0], func(l [][]byte) [][]byte { return l[1:] })
		}, 0, 1, "removed"},
		{"a line is removed", func(t *testing.T, s []string) {
			edit(t, s[1], func(l [][]byte) [][]byte { return slices.Delete(l, 1, 2) })
		}, 1, 2, "removed"},
		{"a line is doubled", func(t *testing.T, s []string) {
			edit(t, s[1], func(l [][]byte) [][]byte { return slices.Insert(l, 1, l[0]) })
		}, 1, 2, "added"},
		{"two lines change places", func(t *testing.T, s []string) {
			edit(t, s[1], func(l [][]byte) [][]byte { l[0], l[1] = l[1], l[0]; return l })
		}, 1, 1, "reordered"},
		{"the last line is removed", func(t *testing.T, s []string) {
			edit(t, s[2], func(l [][]byte) [][]byte { return l[:2] })
		}, 2, 3, "cut off"},
		{"the last line is cut in two", func(t *testing.T, s []string) {
			info, _ := os.Stat(s[2])
			must(t, os.Truncate(s[2], info.Size()-5))
		}, 2, 3, "cut"},
		{"an earlier segment ends within a line", func(t *testing.T, s []string) {
			info, _ := os.Stat(s[0])
			must(t, os.Truncate(s[0], info.Size()-5))
		}, 0, 3, "cut short"},
		{"a whole segment is removed", func(t *testing.T, s []string) { os.Remove(s[1]) }, 2, 1, "removed"},
		{"the last segment is removed", func(t *testing.T, s []string) { os.Remove(s[2]) }, 1, 4, "cut off"},
		{"two segments change places", func(t *testing.T, s []string) {
			os.Rename(s[0], s[0]+".x")
			os.Rename(s[1], s[0])
			os.Rename(s[0]+".x", s[1])
		}, 0, 1, "reordered"},
		{"a file is put beside them", func(t *testing.T, s []string) {
			os.WriteFile(filepath.Join(filepath.Dir(s[0]), "more.jsonl"), []byte("{}\n"), 0o600)
		}, -1, 1, "no segment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			paths := threeSegments(t, dir)
			verified(t, dir)
			c.harm(t, paths)
			report, err := Verify(dir)
			if !errors.Is(err, ErrTampered) {
				t.Fatalf("got %v, report %+v", err, report)
			}
			place := fmt.Sprintf("%s:%d:", filepath.Join(dir, "decisions", "more.jsonl"), c.line)
			if c.segment >= 0 {
				place = fmt.Sprintf("%s:%d:", paths[c.segment], c.line)
			}
			if !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %s … %s", err, place, c.says)
			}
		})
	}
}

func TestVerifyFindsEveryPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := threeSegments(t, dir)
	for _, path := range paths {
		edit(t, path, func(l [][]byte) [][]byte { l[1][20] ^= 1; return l })
	}
	report, err := Verify(dir)
	var edited []string
	for _, f := range report.Faults {
		if f.Problem == errEdited.Error() {
			edited = append(edited, fmt.Sprint(filepath.Base(f.File), f.Line))
		}
	}
	if err == nil || len(edited) != 3 || report.Lines != 9 {
		t.Errorf("got %v, %+v", err, report)
	}
}

func TestAHeadWithoutTheKeyIsWorthless(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(text []byte) []byte{
		"a smaller count": func(text []byte) []byte { return bytes.ReplaceAll(text, []byte(`"count":9`), []byte(`"count":8`)) },
		"blank":           func(text []byte) []byte { return bytes.Repeat([]byte(" "), len(text)) },
		"empty":           func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			threeSegments(t, dir)
			text, _ := os.ReadFile(headPath(dir))
			// the other copy, of eight lines, must not do either
			text = harm(bytes.ReplaceAll(text, []byte(`"count":8`), []byte(`"count":7`)))
			must(t, os.WriteFile(headPath(dir), text, 0o600))
			if _, err := Verify(dir); !errors.Is(err, ErrTampered) {
				t.Errorf("verify: %v", err)
			}
			refused(t, dir, "head")
		})
	}
}

func TestAnotherKeyVerifiesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	threeSegments(t, dir)
	must(t, os.WriteFile(keyPath(dir), bytes.Repeat([]byte{1}, keyLength), 0o600))
	if _, err := Verify(dir); !errors.Is(err, ErrTampered) {
		t.Errorf("verify: %v", err)
	}
	refused(t, dir, "head")
}

func TestVerifyWithoutALogIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := Verify(t.TempDir()); err == nil || errors.Is(err, ErrTampered) {
		t.Errorf("got %v", err)
	}
}

func TestALogInUseVerifies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 20_000}})
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				l.Note(decision("x"))
			}
		}
	}()
	for range 50 {
		verified(t, dir)
	}
	close(stop)
	<-ended
}

func TestAKeyThatNothingFitsIsNamedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir})
	record(t, l, decision("1"), decision("2"), decision("3"))
	must(t, l.Close())
	key, err := os.ReadFile(keyPath(dir))
	must(t, err)
	key[7] ^= 1
	must(t, os.WriteFile(keyPath(dir), key, 0o600))
	report, err := Verify(dir)
	if !errors.Is(err, ErrTampered) || len(report.Faults) != 1 || report.Faults[0].Place() != keyPath(dir) ||
		!strings.HasPrefix(report.Faults[0].Problem,
			"neither the head nor any of the 3 lines fits this key: it may be the key that was changed") {
		t.Errorf("got %+v, %v", report.Faults, err)
	}
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
