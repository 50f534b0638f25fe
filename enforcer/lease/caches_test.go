package lease

import (
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestCachesAreThoseOfTheUserAndOfTheProjectInWhichARequestRuns(t *testing.T) {
	t.Parallel()
	mounts := []bailiff.Mount{{Source: "/b", Target: "/src/b"}, {Source: "/a", Target: "/src/a"}, {Source: "/sub", Target: "/src/a/sub"},
		{Source: "/read", Target: "/src/read", ReadOnly: true}}
	ana := Spec{user: "ana"}
	for _, c := range []struct {
		name, workdir string
		of            Spec
		mounts        []bailiff.Mount
		want          []string
	}{
		{"a project", "/src/a", ana, mounts, []string{"ana", "/a"}},
		{"a folder of it", "/src/a/x", ana, mounts, []string{"ana", "/a"}},
		{"the inner of two", "/src/a/sub/x", ana, mounts, []string{"ana", "/sub"}},
		{"a name that begins alike", "/src/ab", ana, mounts, []string{"ana", "/a", "/b", "/sub"}},
		{"by way of another", "/src/a/../b", ana, mounts, []string{"ana", "/b"}},
		{"none", "", ana, mounts, []string{"ana", "/a", "/b", "/sub"}},
		{"what it only reads", "/src/read", ana, mounts, []string{"ana", "/a", "/b", "/sub"}},
		{"a sandbox of all sessions of a user", "/src/a", Spec{user: "ana", shared: true}, mounts, []string{"ana", "/a", "/b", "/sub"}},
		{"a sandbox for one request", "/src/a", Spec{user: "ana", alone: true}, mounts, nil},
		{"no user", "/src/a", Spec{}, mounts, nil},
		{"nothing to write", "/src/read", ana, mounts[3:], nil},
	} {
		if got := c.of.holderOf(c.mounts, c.workdir); !slices.Equal(got, c.want) {
			t.Errorf("%s: they are those of %q, want %q", c.name, got, c.want)
		}
	}
}
