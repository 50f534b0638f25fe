package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAllOfALogIsReadInOrderWhereverItLies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := threeSegments(t, dir)
	appendTo(t, paths[2], `{"decision_id":"torn"`)
	read := func(paths ...string) (ids []string) {
		err := Read(context.Background(), paths, func(file string, number int, line []byte) error {
			ids = append(ids, fmt.Sprintf("%s:%d %s", filepath.Base(file)[:8], number, idPattern.FindSubmatch(line)[1]))
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return ids
	}
	all := read(dir)
	if len(all) != 10 || all[0] != "00000001:1 0" || all[8][len(all[8])-1] != '8' || all[9] != "00000003:4 torn" {
		t.Errorf("read %q", all)
	}
	if again := read(filepath.Join(dir, "decisions")); !slices.Equal(again, all) {
		t.Errorf("of the folder read %q, want %q", again, all)
	}
	if again := read(paths...); !slices.Equal(again, all) {
		t.Errorf("of the files read %q, want %q", again, all)
	}
}

func TestWhatFollowsTheLastLineBreakIsALine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	for text, want := range map[string][]string{
		"":                      nil,
		"a":                     {"1 a"},
		"{}\n{\"decision_id\":": {"1 {}", `2 {"decision_id":`},
		"{}\n\n{}\n":            {"1 {}", "2 ", "3 {}"},
	} {
		must(t, os.WriteFile(path, []byte(text), 0o600))
		var got []string
		err := Read(t.Context(), []string{path}, func(_ string, number int, line []byte) error {
			got = append(got, fmt.Sprintf("%d %s", number, line))
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("of %q are read %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestACompressedLogIsNotTakenForOneThatIsDamaged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.jsonl.gz")
	must(t, os.WriteFile(path, []byte("\x1f\x8b\x08rest"), 0o600))
	err := Read(t.Context(), []string{path}, func(string, int, []byte) error { t.Error("a line is read"); return nil })
	if want := "reading " + path + ": it is compressed: unpack it first, as with gunzip"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestALogThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for _, path := range []string{empty, filepath.Join(empty, "missing.jsonl")} {
		if err := Read(context.Background(), []string{path}, nil); err == nil {
			t.Errorf("%s: there is no error", path)
		}
	}
	dir := t.TempDir()
	threeSegments(t, dir)
	given := 0
	if err := Read(context.Background(), []string{dir}, func(string, int, []byte) error { given++; return os.ErrClosed }); err == nil ||
		given != 1 {
		t.Errorf("went on after an error: %d lines, %v", given, err)
	}
}
