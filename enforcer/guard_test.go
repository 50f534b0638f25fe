package enforcer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// leaving is a bench whose commands do that to a folder in which places are protected.
func leaving(t *testing.T, folder string, leave func() error, places ...string) *bench {
	t.Helper()
	return newBench(t, func(b *bench) {
		b.judge.decision = allow(func(d *bailiff.Decision) {
			d.Backend.Mounts = []bailiff.Mount{{Source: folder, Target: folder, Protected: places}}
		})
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{}, leave()
		}
	})
}

func TestAnAnswerTellsSomeOfManyChangesAndHowManyThereAre(t *testing.T) {
	const mostTold = 20
	folder := t.TempDir()
	var places []string
	for i := range mostTold + 5 {
		places = append(places, fmt.Sprint(".rc", i))
	}
	b := leaving(t, folder, func() error {
		for _, name := range places {
			if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
				return err
			}
		}
		return nil
	}, places...)
	a := b.Execute(t.Context(), request("ls"), nil)
	if got := strings.Count(a.Message, ".refused"); got != mostTold || !strings.Contains(a.Message, "There are 5 more such changes.") {
		t.Errorf("it tells %d of them: %s", got, a.Message)
	}
}

func TestAFolderThatIsGoneIsNotSaidToBePutBack(t *testing.T) {
	folder := t.TempDir()
	must(t, os.Mkdir(filepath.Join(folder, ".git"), 0o700))
	b := leaving(t, folder, func() error { return os.Remove(filepath.Join(folder, ".git")) }, ".git")
	a := b.Execute(t.Context(), request("ls"), nil)
	if want := "Protected, and not put back: " + folder + "/.git is gone, and cannot be put back."; a.Message != want {
		t.Errorf("it says %q, want %q", a.Message, want)
	}
}

func TestNothingRunsInAFolderThatCouldNotBePutRight(t *testing.T) {
	folder, ran := t.TempDir(), 0
	deep := filepath.Join(folder, "x", strings.Repeat("d/", 200))
	b := leaving(t, folder, func() error { ran++; return os.MkdirAll(deep, 0o700) }, "**/.git")
	if a := b.Execute(t.Context(), request("ls"), nil); a.Status != bailiff.Completed || !strings.Contains(a.Message, "folders deep") {
		t.Errorf("the first is %s: %s", a.Status, a.Message)
	}
	if a := b.Execute(t.Context(), request("ls"), nil); a.Status != bailiff.Unavailable || ran != 1 ||
		!strings.Contains(a.Message, "arlier command changed them") {
		t.Errorf("the next is %s, and %d ran: %s", a.Status, ran, a.Message)
	}
	must(t, os.RemoveAll(filepath.Join(folder, "x")))
	if a := b.Execute(t.Context(), request("ls"), nil); a.Status != bailiff.Completed || ran != 2 {
		t.Errorf("once it is right the next is %s: %s", a.Status, a.Message)
	}
}
