package vercel

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// byItsOwnClient drives the fake with Vercel's own client and returns what that
// printed.
func byItsOwnClient(t *testing.T, f *fake) string {
	t.Helper()
	out, err := exec.Command("node", "testdata/client.mjs", apptest.Clients(t), f.server.URL, fakeToken, fakeTeam,
		fakeProject).CombinedOutput()
	if err != nil {
		t.Fatalf("Vercel's own client ended with %v and said\n%s", err, out)
	}
	return string(out)
}

func TestVercelsOwnClientTakesTheFakeForVercel(t *testing.T) {
	f := newFake(t)
	want := `drive: ["bailiff-drive",1073741824,null]
made: ["by-its-own-client",false,1,2048,"deny-all",{"bailiff":"sandbox"},"vercel/sandbox/universal"]
mounts: {"/workspace":{"drive":"bailiff-drive","mode":"read-write"}}
read: "written"
missing: null
command: [3,"1000\n1000 640\n/home/default/made\na value\n","aside\n"]
sudo: "0\n/root\n"
text: [97,65533,98]
log: "stdout one/stdout two/"
waited: 0
endless: "started\n"
killed: 137
extended: 60000
listed: [["by-its-own-client","running"]]
attached: [["bailiff-drive","by-its-own-client"]]
got: "running"
stopped: ["stopped","stopped"]
after the end: 410
left: 0
drives left: 0
`
	if out := byItsOwnClient(t, f); out != want {
		t.Errorf("it said\n%swant\n%s", out, want)
	}
}

// paths are the fields of a body, with those of objects in it.
func paths(body map[string]any, at string) (list []string) {
	for name, value := range body {
		list = append(list, at+name)
		if inner, ok := value.(map[string]any); ok && name != "tags" {
			list = append(list, paths(inner, at+name+".")...)
		}
	}
	return list
}

func TestTheBackendAsksWhatVercelsOwnClientAsks(t *testing.T) {
	theirs, ours := newFake(t), newFake(t)
	byItsOwnClient(t, theirs)
	b := account(t, ours)
	b.lease = leaseOfTest
	spec := backends.Spec{Owner: "me", Session: "s", Workspace: "w", Network: "none", CPUs: 1, DiskMB: diskSizeMB + 1024}
	opened, err := b.Open(t.Context(), spec)
	backendtest.Must(t, err)
	awaitCall(t, ours, "/extend-timeout")
	backendtest.Must(t, opened.Close(t.Context()))
	for call, bodies := range ours.bodies {
		if len(theirs.bodies[call]) == 0 {
			t.Errorf("Vercel's own client never asks %s", call)
		}
		said := map[string]bool{}
		for _, body := range theirs.bodies[call] {
			for _, field := range paths(body, "") {
				said[field] = true
			}
		}
		for _, body := range bodies {
			for _, field := range paths(body, "") {
				if !said[field] {
					t.Errorf("%s has %s, which Vercel's own client does not say there: it says %q", call, field,
						slices.Sorted(maps.Keys(said)))
				}
			}
		}
	}
	if len(ours.bodies) < 4 {
		t.Errorf("only %d calls were compared: %q", len(ours.bodies), fmt.Sprint(slices.Collect(maps.Keys(ours.bodies))))
	}
}
