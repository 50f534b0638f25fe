package backendtest

import (
	"context"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
)

// workspaceChecks are those of files that outlive a sandbox.
func workspaceChecks() []check {
	return []check{
		promise("A named workspace outlives its sandbox", OnPlace|OnUser, workspaces, isolated),
		promise("A workspace without a name goes with its sandbox", OnPlace, unnamed, isolated),
		promise("Two sandboxes of one workspace see the same files", OnPlace, sharedFiles, isolated),
		promise("A named workspace keeps within the bound on the disk, or is refused", OnPlace, boundedWorkspace, isolated),
		promise("What fills a workspace beyond its bound is stopped, and what empties it runs", OnPlace, filledWorkspace, isolated),
	}
}

func workspaces(t *testing.T, b box) {
	spec := b.spec
	spec.Workspace, spec.DiskMB = "../w/"+marker(), 0
	first := b.another(t, spec)
	first.says("echo kept >file; mkdir folder; chmod 0 folder; cat file", "kept\n")
	NoError(t, first.Close(context.Background()))
	again := b.another(t, spec)
	again.says("cat file", "kept\n")
	other := spec
	other.Workspace += "-other"
	neighbour := b.another(t, other)
	neighbour.says("cat file 2>/dev/null || echo none", "none\n")
	for _, in := range []box{again, neighbour} { // a workspace in use need not be removable
		NoError(t, in.Close(context.Background()))
	}
	keeper, ok := b.backend.(backends.Keeper)
	if !ok {
		t.Fatal("the backend cannot remove workspaces")
	}
	theirs := func() int {
		names, err := keeper.Workspaces(context.Background(), spec.Owner)
		NoError(t, err)
		others, _ := keeper.Workspaces(context.Background(), spec.Owner+"-other")
		return count(names, spec.Workspace) + count(names, other.Workspace) + len(others)
	}
	if n := theirs(); n != 2 {
		t.Errorf("%d workspaces are listed, want the two that are kept", n)
	}
	for range 2 {
		for _, workspace := range []string{spec.Workspace, other.Workspace} {
			NoError(t, eventually(t, func() error { return keeper.RemoveWorkspace(context.Background(), spec.Owner, workspace) }))
		}
	}
	if n := theirs(); n != 0 {
		t.Errorf("%d workspaces are listed that are removed", n)
	}
	t.Cleanup(func() { _ = keeper.RemoveWorkspace(context.Background(), spec.Owner, spec.Workspace) })
	b.another(t, spec).says("cat file 2>/dev/null || echo none", "none\n")
}

func count(names []string, name string) (n int) {
	for _, other := range names {
		if other == name {
			n++
		}
	}
	return n
}

func unnamed(t *testing.T, b box) {
	first := b.another(t, b.spec)
	first.says("echo lost >file; ls -A", "file\n")
	NoError(t, first.Close(context.Background()))
	b.another(t, b.spec).says("ls -A; pwd", "/workspace\n")
}

func sharedFiles(t *testing.T, b box) {
	spec := b.spec
	spec.Workspace, spec.DiskMB = "shared"+marker(), 0
	one, other := b.another(t, spec), b.another(t, spec)
	if keeper, ok := b.backend.(backends.Keeper); ok {
		defer func() {
			for _, in := range []box{one, other} {
				NoError(t, in.Close(context.Background()))
			}
			if err := eventually(t, func() error {
				return keeper.RemoveWorkspace(context.Background(), spec.Owner,
					spec.Workspace)
			}); err != nil {
				t.Error(err)
			}
		}()
	}
	one.says("echo of the one >file", "")
	other.says("cat file; echo of the other >file", "of the one\n")
	one.says("cat file", "of the other\n")
}

// boundedWorkspace is kept where the backend can bound files that outlive a sandbox.
func boundedWorkspace(t *testing.T, b box) {
	spec := b.spec
	spec.DiskMB, spec.Workspace = 64, "bounded"+marker()
	first, err := b.backend.Open(context.Background(), spec)
	if err != nil {
		if !strings.Contains(err.Error(), "disk_mb") {
			t.Errorf("it is refused with %v, want disk_mb to be named", err)
		}
		return
	}
	keeper := b.backend.(backends.Keeper)
	t.Cleanup(func() {
		NoError(t, eventually(t, func() error { return keeper.RemoveWorkspace(context.Background(), spec.Owner, spec.Workspace) }))
	})
	in := b.holding(first, spec)
	in.says("echo kept >file; ls -A", "file\n")
	in.fill(t)
	NoError(t, first.Close(context.Background()))
	again := b.another(t, spec)
	again.says("cat file", "kept\n")
	again.fill(t)
	b.another(t, spec).says("cat file; rm file", "kept\n")
	again.says("cat file 2>/dev/null || echo gone", "gone\n")
}
