package past

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

var listing = bailiff.Request{Caller: "test", Session: bailiff.Session{ID: "s1", Platform: "cli", UserID: "42"}}

func of(session string) bailiff.Request {
	req := listing
	req.Session.ID = session
	return req
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open is a store in a folder, and how often it was damaged.
func open(t *testing.T, dir string) (*Store, *int) {
	t.Helper()
	damaged := 0
	s, err := Open(Config{Dir: dir, Damaged: func() { damaged++ }})
	must(t, err)
	return s, &damaged
}

func brought(path, sha256 string) Deed {
	return Deed{Ran: true, Files: []bailiff.FileFact{{Path: path, SHA256: sha256, How: bailiff.Downloaded}}}
}

func TestWhatASessionDidIsKnownToTheNextProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before, _ := open(t, dir)
	for range maxLines + 5 { // so that the file is folded
		before.Add(listing, Deed{Denied: true, Rules: []string{"command.destroys_system"}})
	}
	before.Add(listing, brought("/w/i.sh", "ab"))
	before.Add(listing, Deed{Denied: true, Hosts: []string{"x.test"}, Credentials: []string{"~/.netrc"}})
	after, damaged := open(t, dir)
	h := after.Of(listing)
	if !h.Complete || *damaged != 0 || len(h.Files) != 1 || h.Denials != (bailiff.DenialCount{InARow: 1, Total: maxLines + 6}) ||
		h.Requests.Minute != maxLines+7 || h.NewHosts.Hour != 1 || h.Findings["command.destroys_system"] != maxLines+5 ||
		h.Hosts[0] != "x.test" || h.CredentialsRead[0] != "~/.netrc" {
		t.Errorf("known are %+v, %+v", h, h.SessionFacts)
	}
	after.Forget("test", "s1")
	if again, _ := open(t, dir); len(again.Of(listing).Files) != 0 || len(again.Of(listing).User.Files) != 1 {
		t.Error("ending the session forgets nothing, or the user's facts too")
	}
}

func TestAFileIsKnownByItsContentAndByItsPath(t *testing.T) {
	t.Parallel()
	s := InMemory()
	s.Add(of("s1"), brought("/w/i.sh", "ab"))
	s.Add(of("s1"), brought("late.sh", ""))
	for name, c := range map[string]struct {
		session, folder, path, sha256, whose string
	}{
		"as it was brought":                 {"s1", "/w", "i.sh", "ab", "session"},
		"under another name":                {"s1", "/w", "copy", "ab", "session"},
		"changed since":                     {"s1", "/w", "./i.sh", "cd", "session"},
		"by its whole path":                 {"s1", "/elsewhere", "/w/i.sh", "", "session"},
		"from a folder that is not known":   {"s1", "", "i.sh", "", "session"},
		"where its own folder is not known": {"s1", "/x", "late.sh", "cd", "session"},
		"of the user's other session":       {"s2", "/w", "copy", "ab", "user"},
		"of that name in another folder":    {"s1", "/x", "i.sh", "cd", ""},
		"of that path in another session":   {"s2", "/w", "i.sh", "cd", ""},
		"of the home folder":                {"s1", "/w", "~/i.sh", "", ""},
		"another":                           {"s1", "/w", "other.sh", "cd", ""},
	} {
		runs := s.Of(of(c.session)).Runs(c.folder, []bailiff.File{{Path: c.path, SHA256: c.sha256}})
		if whose := ""; len(runs) > 0 {
			if whose = runs[0].Whose; whose != c.whose || runs[0].SHA256 != c.sha256 {
				t.Errorf("%s: it is the %s's with the content %q, want %q with %q", name, whose, runs[0].SHA256, c.whose, c.sha256)
			}
		} else if c.whose != "" {
			t.Errorf("%s: it is not known", name)
		}
	}
}

func TestWhatIsRememberedIsBoundedAndSaysSo(t *testing.T) {
	t.Parallel()
	s := InMemory()
	for n := range maxFiles {
		s.Add(listing, brought(fmt.Sprintf("/w/%d", n), fmt.Sprint(n)))
	}
	if h := s.Of(listing); !h.Complete || len(h.Files) != maxFiles {
		t.Errorf("complete is %v with %d files", h.Complete, len(h.Files))
	}
	s.Add(listing, brought("/w/last", "z"))
	h := s.Of(listing)
	if h.Complete || len(h.Files) != maxFiles || h.Files[0].Path != "/w/1" || h.User.Complete {
		t.Errorf("complete is %v with %d files, the first %v", h.Complete, len(h.Files), h.Files[0])
	}
}

func TestDamageIsLoudAndLeavesTheHistoryIncomplete(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"a cut line": func(path string) error {
			text, err := os.ReadFile(path) //nolint:gosec // of this test
			if err != nil {
				return err
			}
			return os.WriteFile(path, text[:len(text)-5], 0o600)
		},
		"other bytes": func(path string) error { return os.WriteFile(path, []byte("\x00\x01\n{}\n"), 0o600) },
		"a folder": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		},
	} {
		dir := t.TempDir()
		s, _ := open(t, dir)
		s.Add(listing, brought("/w/i.sh", "ab"))
		must(t, damage(s.file(sessionOf(listing))))
		again, damaged := open(t, dir)
		if h := again.Of(listing); h.Complete || *damaged == 0 {
			t.Errorf("%s: complete is %v, told %d times", name, h.Complete, *damaged)
		}
		again.Add(listing, brought("/w/j.sh", "cd"))
		if h := again.Of(listing); h.Complete || len(h.Runs("/w", []bailiff.File{{Path: "j.sh"}})) != 1 {
			t.Errorf("%s: later facts are lost: %+v", name, h.SessionFacts)
		}
	}
}

func TestAClockThatJumpsLosesNoDenials(t *testing.T) {
	t.Parallel()
	var w window
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	w.add(noon, 1)
	w.add(noon.Add(-time.Hour), 1)
	if c := w.counts(noon.Add(-time.Hour)); c.Minute != 2 {
		t.Errorf("after the clock went back it counts %+v", c)
	}
	w.add(noon.Add(30*time.Minute), 1)
	if c := w.counts(noon.Add(30 * time.Minute)); c != (bailiff.WindowCount{Minute: 1, Hour: 3, Day: 3}) {
		t.Errorf("it counts %+v", c)
	}
	if c := w.counts(noon.Add(48 * time.Hour)); c != (bailiff.WindowCount{}) {
		t.Errorf("two days later it counts %+v", c)
	}
}

// disk holds files by their content, of which some are young.
type disk struct {
	holds map[string]string
	young []string
}

func (d disk) Digest(_ context.Context, _ string, paths []string) (files []bailiff.File, err error) {
	for _, path := range paths {
		files = append(files, bailiff.File{Path: path, SHA256: d.holds[path]})
	}
	return files, nil
}

func (d disk) Match(context.Context, string, string, []string) (paths []string, all bool, err error) {
	return d.young, true, nil
}

func said(facts []bailiff.FileFact) string {
	var all []string
	for _, f := range facts {
		all = append(all, strings.TrimSpace(f.Path+" "+f.SHA256)+" "+f.How)
	}
	return strings.Join(all, ", ")
}

func TestWhatIsMadeOfBroughtFilesIsBroughtToo(t *testing.T) {
	t.Parallel()
	s := InMemory()
	s.Add(listing, brought("/w/src.c", "ab"))
	s.Add(listing, brought("/w/late", ""))
	s.Add(listing, brought("/w/pkg/", ""))
	made := func(how, to string, from ...string) bailiff.Origin {
		return bailiff.Origin{Path: to, How: how, From: from}
	}
	on := disk{holds: map[string]string{"prog": "01", "src.c": "ab", "copy.c": "ab", "own.c": "cd", "changed.sh": "ef", "gone": ""}}
	later := bailiff.Origin{Path: "gone", How: bailiff.Downloaded, Later: true}
	for name, c := range map[string]struct {
		origin bailiff.Origin
		want   string
	}{
		"compiled of what was brought":       {made(bailiff.Compiled, "prog", "src.c"), "/w/prog 01 compiled"},
		"compiled of a copy":                 {made(bailiff.Compiled, "prog", "copy.c"), "/w/prog 01 compiled"},
		"compiled of the project's own":      {made(bailiff.Compiled, "prog", "own.c"), ""},
		"edited":                             {made(bailiff.Derived, "changed.sh", "src.c"), "/w/changed.sh ef downloaded"},
		"moved before its content was known": {made(bailiff.Derived, "changed.sh", "late"), "/w/changed.sh ef downloaded"},
		"joined of parts by a pattern":       {made(bailiff.Derived, "changed.sh", "lat*"), "/w/changed.sh ef downloaded"},
		"copied out of what was unpacked":    {made(bailiff.Derived, "changed.sh", "pkg/a/run.sh"), "/w/changed.sh ef downloaded"},
		"copied of the project's own":        {made(bailiff.Derived, "changed.sh", "own.c"), ""},
		"a folder that is moved":             {made(bailiff.Derived, "other", "pkg"), "/w/other/ downloaded"},
		"a folder that is copied into this":  {made(bailiff.Derived, ".", "pkg"), ""},
		"not there":                          {made(bailiff.Downloaded, "gone"), ""},
		"not there yet":                      {later, "/w/gone downloaded"},
		"an archive that the project had":    {made(bailiff.Derived, "out/", "own.tar"), ""},
	} {
		f := Filler{In: on, Folder: "/w", Before: s.Of(listing)}
		if got := said(f.FilesOf(t.Context(), []bailiff.Origin{c.origin})); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWhatIsUnpackedOfABroughtArchiveIsBroughtToo(t *testing.T) {
	t.Parallel()
	s := InMemory()
	s.Add(listing, brought("/w/a-1.tar.gz", "aa"))
	origins := []bailiff.Origin{{Path: "/w/", Beside: "/w/a-1/", How: bailiff.Derived, From: []string{"/w/a-1.tar.gz"}}}
	f := Filler{Folder: "/w", Before: s.Of(listing)}
	if got := said(f.FilesOf(t.Context(), origins)); got != "/w/a-1/ downloaded" {
		t.Errorf("where nothing can be looked at: %s", got)
	}
	f.In = disk{young: []string{"/w/own.sh"}}
	f.Young = YoungIn(t.Context(), f.In, "/w", origins, f.Before)
	f.In = disk{young: []string{"/w/own.sh", "/w/tool"}, holds: map[string]string{"/w/tool": "cd", "/w/own.sh": "ef"}}
	if got := said(f.FilesOf(t.Context(), origins)); got != "/w/tool cd downloaded" {
		t.Errorf("of what lies there since: %s", got)
	}
	s.Add(listing, brought("/w/b/", ""))
	for path, want := range map[string]bool{"b/run.sh": true, "b/c/run.sh": true, "/w/b/*.sh": true, "bc/run.sh": false, "b.sh": false,
		"/w/**/a-1.*": true, "*.sh": false} {
		if runs := s.Of(listing).Runs("/w", []bailiff.File{{Path: path}}); (len(runs) > 0) != want {
			t.Errorf("%s runs %+v", path, runs)
		}
	}
}

func TestOldHistoriesGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := open(t, dir)
	s.Add(listing, brought("/w/i.sh", "ab"))
	s.Add(of("s2"), brought("/w/i.sh", "ab"))
	old := time.Now().Add(-maxAge - time.Hour)
	must(t, os.Chtimes(s.file(sessionOf(listing)), old, old))
	again, _ := open(t, dir)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if must(t, err); len(left) != 2 || len(again.Of(listing).Files) != 0 || len(again.Of(of("s2")).Files) != 1 {
		t.Errorf("left are %v", left)
	}
}

func TestADenialCountsThatIsForWhatTheRequestIs(t *testing.T) {
	t.Parallel()
	for rule, counts := range map[string]bool{"command.destroys_system": true, "floor.backend": true, bailiff.RuleUnwritable: false,
		bailiff.RuleFrozen: false, "approval.unattended": false} {
		if got := Counts(bailiff.Denial(rule, "No.")); got != counts {
			t.Errorf("a denial by %s counts: %v, want %v", rule, got, counts)
		}
	}
	if Counts(bailiff.Decision{Outcome: bailiff.Ask}) {
		t.Error("a question counts")
	}
}
