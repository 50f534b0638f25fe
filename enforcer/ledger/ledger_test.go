package ledger

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// fixture is a ledger in a folder of its own, with what it told its log.
type fixture struct {
	*Ledger
	dir  string
	told *bytes.Buffer
}

func open(t *testing.T, dir string) fixture {
	t.Helper()
	told := &bytes.Buffer{}
	l, err := Open(Config{StateDir: dir, Log: slog.New(slog.NewTextHandler(told, nil)),
		Scrub: func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("hunter22"), []byte("[redacted]")) }})
	must(t, err)
	return fixture{l, dir, told}
}

func (d fixture) file(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, folder, name))
	must(t, err)
	return string(text)
}

func (d fixture) write(t *testing.T, folder, name, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(d.dir, folder, name), []byte(text), 0o600))
}

func all[T any](t *testing.T, s Entries[T]) []T {
	t.Helper()
	list, err := s.All()
	must(t, err)
	return list
}

func keep[T any](t *testing.T, s Entries[T], entry T) {
	t.Helper()
	must(t, s.Keep(entry))
}

func let(id string) Sandbox {
	at := time.Date(2026, 11, 21, 12, 0, 0, 5, time.UTC)
	return Sandbox{ID: id, Backend: "docker", Slot: "slot", Shared: true, Caller: "hermes", Session: "s1", User: "u", Persistent: true,
		Spec: backends.Spec{Owner: "o", Session: "s", Workspace: "w", Image: "sha256:1", Network: "none", CPUs: .5, MemoryMB: 1, DiskMB: 2,
			PIDs: 3, ReadOnly: true, Mounts: []bailiff.Mount{{Source: "/a", Target: "/b", ReadOnly: true}}, Expires: at},
		Guests: []bailiff.Session{{ID: "s1", Platform: "telegram", UserID: "42"}},
		Since:  at, Expires: at, Idle: time.Hour, Workdirs: []Workdir{{Of: "s", Path: "/workspace", InWorkspace: true}},
		Processes: []Process{{ID: "pabcdefghij", Caller: "hermes", Peer: "uid:1", DecisionID: "d", Forwarded: []string{"TOKEN"},
			Started: at, Polled: 7,
			Lifted: true, Midline: true, End: &End{At: at, Status: bailiff.Completed, ExitCode: 3, Message: "m", Written: 9},
			Request: bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "sleep 1", Background: true}}}},
	}
}

func TestWhatIsKeptIsFoundByTheNextProcess(t *testing.T) {
	dir := t.TempDir()
	before := open(t, dir)
	sandbox, workspace := let("c1"), Workspace{Backend: "docker", Name: "w", Slot: "slot", Caller: "hermes", Session: "s1", Shared: true,
		Used: time.Unix(1, 0).UTC()}
	keep(t, before.Sandboxes, sandbox)
	keep(t, before.Workspaces, workspace)
	after := open(t, dir)
	if got := all(t, after.Sandboxes); !reflect.DeepEqual(got, []Sandbox{sandbox}) {
		t.Errorf("found %+v", got)
	}
	if got := all(t, after.Workspaces); !reflect.DeepEqual(got, []Workspace{workspace}) {
		t.Errorf("found %+v", got)
	}
}

func TestTheLastWordOnAnEntryCounts(t *testing.T) {
	l := open(t, t.TempDir())
	first, second := let("c1"), let("c1")
	second.Session = "s2"
	keep(t, l.Sandboxes, first)
	keep(t, l.Sandboxes, second)
	keep(t, l.Sandboxes, let("c2"))
	if err := l.Sandboxes.Drop(let("c2").Key()); err != nil {
		t.Error(err)
	}
	if err := l.Sandboxes.Drop(let("c3").Key()); err != nil {
		t.Errorf("dropping what is not there: %v", err)
	}
	if got := all(t, l.Sandboxes); len(got) != 1 || got[0].Session != "s2" {
		t.Errorf("found %+v", got)
	}
}

func TestNobodyElseReadsTheLedger(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"sandboxes", "workspaces"} {
		must(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
	}
	keep(t, open(t, dir).Sandboxes, let("c1"))
	for path, want := range map[string]os.FileMode{"sandboxes": 0o700, "workspaces": 0o700, "sandboxes/docker-c1.json": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want mode %o", path, info, err, want)
		}
	}
}

func TestASandboxWhoseEntryCannotBeReadIsDroppedLoudly(t *testing.T) {
	good := open(t, t.TempDir())
	keep(t, good.Sandboxes, let("c1"))
	text := good.file(t, "sandboxes", "docker-c1.json")
	for name, broken := range map[string]string{
		"nothing":             "",
		"the first half":      text[:len(text)/2],
		"an unknown field":    strings.Replace(text, `"id":"c1"`, `"id":"c1","rank":1`, 1),
		"another type":        strings.Replace(text, `"id":"c1"`, `"id":1`, 1),
		"more than one entry": text + text,
		"another's entry":     strings.Replace(text, `"id":"c1"`, `"id":"c2"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, t.TempDir())
			l.write(t, "sandboxes", "docker-c1.json", broken)
			keep(t, l.Sandboxes, let("c9"))
			if got := all(t, l.Sandboxes); len(got) != 1 || got[0].ID != "c9" {
				t.Errorf("found %+v", got)
			}
			if !strings.Contains(l.told.String(), "docker-c1.json") {
				t.Errorf("the log says %q", l.told)
			}
			if _, err := os.Stat(filepath.Join(l.dir, "sandboxes", "docker-c1.json")); !os.IsNotExist(err) {
				t.Errorf("the file is there still: %v", err)
			}
		})
	}
}

func TestAWorkspaceIsNeverLostByItsEntry(t *testing.T) {
	l := open(t, t.TempDir())
	l.write(t, "workspaces", "docker-w1.json", `{"backend":"docker","name":"w1","slot":"s","used":`)
	got := all(t, l.Workspaces)
	if len(got) != 1 || got[0].Backend != "docker" || got[0].Name != "w1" || got[0].Slot != "" || time.Since(got[0].Used) > time.Hour {
		t.Errorf("found %+v", got)
	}
	if l.told.Len() == 0 {
		t.Error("the log says nothing")
	}
}

func TestAWriterThatWasKilledLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	open(t, dir).write(t, "sandboxes", ".new-123", `{"id":`)
	l := open(t, dir)
	if got := all(t, l.Sandboxes); len(got) != 0 || l.told.Len() > 0 {
		t.Errorf("found %+v, told %q", got, l.told)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "sandboxes")); err != nil || len(left) > 0 {
		t.Errorf("left %v %v", left, err)
	}
}

func TestNoNameLeavesTheFolder(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	for _, id := range []string{"../../x", "a/b", "a\x00", strings.Repeat("x", 300)} {
		if err := l.Sandboxes.Keep(let(id)); err == nil {
			t.Errorf("%q was kept", id)
		}
		if err := l.Sandboxes.Drop(let(id).Key()); err != nil {
			t.Errorf("dropping %q: %v", id, err)
		}
	}
	if got := all(t, l.Sandboxes); len(got) != 0 {
		t.Errorf("found %+v", got)
	}
}

func TestKnownSecretsAreNotWritten(t *testing.T) {
	l := open(t, t.TempDir())
	sandbox := let("c1")
	args := &sandbox.Processes[0].Request.Args
	args.Command, args.Stdin, args.Workdir = "login hunter22", "hunter22\n", "/hunter22"
	sandbox.Workdirs[0].Path = "/home/hunter22"
	keep(t, l.Sandboxes, sandbox)
	if text := l.file(t, "sandboxes", "docker-c1.json"); strings.Contains(text, "hunter22") || !strings.Contains(text, "login [redacted]") {
		t.Errorf("written: %s", text)
	}
	if args.Command != "login hunter22" {
		t.Error("the entry itself was changed")
	}
}

func TestAReaderFindsWholeEntriesWhileTheyAreWritten(t *testing.T) {
	l := open(t, t.TempDir())
	keep(t, l.Sandboxes, let("c1"))
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 50 {
				if err := l.Sandboxes.Keep(let("c1")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 50 {
		if got := all(t, l.Sandboxes); len(got) != 1 {
			t.Errorf("found %d entries", len(got))
		}
	}
	writers.Wait()
	if l.told.Len() > 0 {
		t.Errorf("the log says %q", l.told)
	}
}

func TestALedgerNeedsAFolder(t *testing.T) {
	if _, err := Open(Config{}); err == nil {
		t.Error("opened")
	}
}

func TestWhatIsNoFileHoldsNobodyUp(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	for _, folder := range []string{"sandboxes", "workspaces"} {
		must(t, syscall.Mkfifo(filepath.Join(dir, folder, "docker-pipe.json"), 0o600))
		must(t, os.Symlink("/dev/zero", filepath.Join(dir, folder, "docker-link.json")))
	}
	if found := all(t, d.Sandboxes); len(found) != 0 {
		t.Errorf("found %+v", found)
	}
	if found := all(t, d.Workspaces); len(found) != 2 || found[0].Slot != "" {
		t.Errorf("found %+v, want what the names tell", found)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "sandboxes")); err != nil || len(left) != 0 {
		t.Errorf("left are %v, error %v", left, err)
	}
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
