package runner_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// resolving is a client of a runner that finds the same on any path; asked gets what it is asked for.
func resolving(t *testing.T, found wire.Ground, asked *wire.Files) *runner.Client {
	t.Helper()
	client, err := runner.Attach(t.Context(), answering(polite(wire.Version, func(f wire.Frame, out *wire.Writer) {
		if f.Kind == wire.Resolve {
			*asked, _ = wire.Decode[wire.Files](f.Payload)
			_ = out.SendAll(wire.Resolved, f.Stream, wire.Encode(found))
		}
	})), runner.Place{Home: "/home/ana", Workspace: "/w"})
	backendtest.Must(t, err)
	return client
}

func TestWhatPathsLeadToIsSpeltAsTextsSpellIt(t *testing.T) {
	t.Parallel()
	type link = bailiff.Link
	for name, c := range map[string]struct {
		found wire.Ground
		want  bailiff.Ground
	}{
		"nothing": {wire.Ground{All: true, Folder: "1:2"}, bailiff.Ground{Folder: "1:2"}},
		"not all": {wire.Ground{}, bailiff.Ground{Unseen: true}},
		"a link": {wire.Ground{All: true, Links: []wire.Link{{Path: "/w/q", Targets: []string{"/etc"}}}},
			bailiff.Ground{Links: []link{{Path: "/w/q", Targets: []string{"/etc"}}}}},
		"a link to the home": {wire.Ground{All: true, Links: []wire.Link{{Path: "/w/q", Targets: []string{"/home/ana/x"}}}},
			bailiff.Ground{Links: []link{{Path: "/w/q", Targets: []string{"~/x"}}}}},
		"a link beside it": {wire.Ground{All: true, Links: []wire.Link{{Path: "/w/q", Targets: []string{"/home/anabel"}}}},
			bailiff.Ground{Links: []link{{Path: "/w/q", Targets: []string{"/home/anabel"}}}}},
		"a link in the home": {wire.Ground{All: true, Links: []wire.Link{{Path: "/home/ana/q", Targets: []string{"/etc"}}}},
			bailiff.Ground{Links: []link{{Path: "/home/ana/q", Targets: []string{"/etc"}}, {Path: "~/q", Targets: []string{"/etc"}}}}},
		"a home behind a link": {wire.Ground{All: true, Links: []wire.Link{{Path: "/home", Targets: []string{"/usr/home"}},
			{Path: "/w/q", Targets: []string{"/usr/home/ana/.ssh"}}}},
			bailiff.Ground{Links: []link{{Path: "/home", Targets: []string{"/usr/home"}}, {Path: "/w/q", Targets: []string{"~/.ssh"}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked wire.Files
			got, err := resolving(t, c.found, &asked).Resolve(t.Context(), "", []string{"~/a", "b"})
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("found %+v, %v, want %+v", got, err, c.want)
			}
			if want := (wire.Files{Dir: "/w", Paths: []string{"/home/ana", "/home/ana/a", "b"}}); !reflect.DeepEqual(asked, want) {
				t.Errorf("asked for %+v, want %+v", asked, want)
			}
		})
	}
}

// Whose home it is, or whether it is a name that begins so, the runner is not asked.
func TestPathsInHomesOfOthersAreNotSeen(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"~ana", "~ana/q/shadow", `\~ana/c`} {
		var asked wire.Files
		got, err := resolving(t, wire.Ground{All: true}, &asked).Resolve(t.Context(), "", []string{path, "b"})
		if want := []string{"/home/ana", "b"}; err != nil || !got.Unseen || !slices.Equal(asked.Paths, want) {
			t.Errorf("%s: found %+v, %v, having asked for %q", path, got, err, asked.Paths)
		}
	}
}

func TestOfPathsThatAreTooLongToBeAskedForNotAllAreSeen(t *testing.T) {
	t.Parallel()
	var paths []string
	for i := range 100 {
		paths = append(paths, fmt.Sprint(i, strings.Repeat("x", wire.MaxPayload/100)))
	}
	var asked wire.Files
	got, err := resolving(t, wire.Ground{All: true}, &asked).Resolve(t.Context(), "", paths)
	if err != nil || !got.Unseen || len(asked.Paths) < 10 {
		t.Errorf("found %+v, %v, having asked for %d paths", got, err, len(asked.Paths))
	}
}
