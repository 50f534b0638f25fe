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

// inProject is a decision whose sandbox shows a folder with a protected one in it.
func inProject(folder string) bailiff.Decision {
	return allow(func(d *bailiff.Decision) {
		d.Backend.Mounts = []bailiff.Mount{{Source: folder, Target: folder, Protected: []string{".codex/"}}}
	})
}

func TestAFolderThatGoesWhileTheSandboxIsMadeCostsNoRequest(t *testing.T) {
	folder := t.TempDir()
	codex := filepath.Join(folder, ".codex")
	must(t, os.Mkdir(codex, 0o700))
	opened := 0
	b := newBench(t, func(b *bench) {
		b.judge.decision = inProject(folder)
		b.fakeBackend.run = prints("ran")
		b.fakeBackend.opening = func() error {
			if opened++; opened > 1 {
				return nil
			}
			return fmt.Errorf("%w: %w", backends.ErrUnavailable, os.Remove(codex))
		}
	})
	if a := b.Execute(t.Context(), request("ls"), nil); a.Status != bailiff.Completed || string(a.Output) != "ran" || opened != 2 {
		t.Errorf("it is %s after %d openings: %s", a.Status, opened, a.Message)
	}
	if mounts := b.fakeBackend.sandboxes()[0].spec.Mounts; len(mounts) != 1 {
		t.Errorf("it shows %+v", mounts)
	}
}

func TestASandboxThatShowsAnotherFolderEachTimeIsRefused(t *testing.T) {
	folder := t.TempDir()
	must(t, os.Mkdir(filepath.Join(folder, ".codex"), 0o700))
	b := newBench(t, func(b *bench) {
		b.judge.decision = inProject(folder)
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{}, nil
		}
	})
	a := b.Execute(t.Context(), request("ls"), nil)
	if a.Status != bailiff.Unavailable || !strings.Contains(a.Message, ".codex is not shown read-only as the folder that it is") {
		t.Errorf("it is %s: %s", a.Status, a.Message)
	}
	for _, sandbox := range b.fakeBackend.sandboxes() {
		if len(sandbox.cmds) != 1 {
			t.Errorf("more than its mounts was looked at: %v", sandbox.cmds)
		}
	}
	if n := len(b.fakeBackend.sandboxes()); n != mostOvertaken {
		t.Errorf("%d sandboxes were made", n)
	}
}
