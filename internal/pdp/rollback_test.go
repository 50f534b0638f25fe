package pdp

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/judging/history"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// shelved is a history in a folder.
func shelved(t *testing.T, dir string) *history.History {
	t.Helper()
	h, err := history.Open(dir, slog.New(slog.DiscardHandler))
	must(t, err)
	return h
}

// remembering are policies in a folder of files, with a history.
func remembering(t *testing.T, root string) Config {
	t.Helper()
	write(t, filepath.Join(root, "policies/p.rego"), timed(5))
	write(t, filepath.Join(root, "policies/p_test.rego"), allowingTest)
	return Config{Paths: []string{filepath.Join(root, "policies")}, RequireTests: true, History: shelved(t, filepath.Join(root, "history"))}
}

func anyway(api.Rollback) error { return nil }

// saved has other policies come into force.
func saved(t *testing.T, root string, p *PDP, told reloads, limit int) {
	t.Helper()
	write(t, filepath.Join(root, "policies/p.rego"), timed(limit))
	for seconds(p) != limit {
		told.until(t, true)
	}
}

func revisions(t *testing.T, h *history.History) (ways []string) {
	t.Helper()
	all, err := h.All()
	must(t, err)
	for _, r := range all {
		ways = append(ways, r.Way)
	}
	return ways
}

func TestPoliciesThatWereInForceCanBeAgain(t *testing.T) {
	root := t.TempDir()
	c := remembering(t, root)
	p, told := watched(t, c)
	first := p.Revision()
	saved(t, root, p, told, 7)
	second := p.Revision()
	var recorded api.Rollback
	word := api.Rollback{Revision: first[:8], By: "ana", Reason: "7 is too much"}
	must(t, p.RollBack(t.Context(), word, func(w api.Rollback) error { recorded = w; return nil }))
	if s := p.Status(); seconds(p) != 5 || p.Revision() != first || s.RolledBack == nil || s.RolledBack.By != "ana" ||
		s.Waiting != second || !s.OK {
		t.Errorf("in force is %+v", s)
	}
	if recorded.Revision != first || recorded.Reason != word.Reason {
		t.Errorf("recorded was %+v", recorded)
	}
	if ways := revisions(t, c.History); strings.Join(ways, " ") != "rollback files" {
		t.Errorf("the ways are %v", ways)
	}
	must(t, p.Resume(t.Context(), func() error { return nil }))
	if s := p.Status(); seconds(p) != 7 || s.RolledBack != nil || s.Waiting != "" {
		t.Errorf("in force is %+v", s)
	}
	if err := p.Resume(t.Context(), nil); !errors.Is(err, api.ErrNotRolledBack) {
		t.Errorf("a second end says %v", err)
	}
	saved(t, root, p, told, 9)
}

func TestASecondRollbackToTheSameRevisionHasATimeOfItsOwn(t *testing.T) {
	root := t.TempDir()
	c := remembering(t, root)
	p, _ := watched(t, c)
	var since [2]time.Time
	for i := range since {
		must(t, p.RollBack(t.Context(), api.Rollback{Revision: p.Revision(), By: "ana"}, anyway))
		all, err := c.History.All()
		must(t, err)
		since[i] = all[0].Since
	}
	if !since[1].After(since[0]) {
		t.Errorf("in force since %v, then since %v", since[0], since[1])
	}
}

func TestABundleServerThatGoesBackIsToldOf(t *testing.T) {
	folder := tree(t, map[string]string{"p_test.rego": allowingTest})
	bundle := func(limit int, name string) []byte {
		write(t, filepath.Join(folder, "p.rego"), timed(limit))
		return built(t, folder, name)
	}
	var log strings.Builder
	c := Config{Archive: &source.Archive{Name: "https://house.test/b.tar.gz", Text: bundle(5, "v5")}, EvalTimeout: time.Minute,
		History: shelved(t, t.TempDir()),
		Log:     slog.New(slog.NewTextHandler(&log, nil))}
	p, err := Open(t.Context(), c)
	must(t, err)
	five := p.Revision()
	offered := func(limit int, name, wantReplaced string) {
		t.Helper()
		log.Reset()
		must(t, p.Offer(t.Context(), bundle(limit, name)))
		if got := p.Status().Replaced; got != wantReplaced || strings.Contains(log.String(), "went back") != (wantReplaced != "") {
			t.Errorf("%s is in the place of %q, want %q; the log says\n%s", name, got, wantReplaced, log.String())
		}
	}
	offered(7, "v7", "")
	seven := p.Revision()
	offered(5, "v5", seven)
	p, err = Open(t.Context(), c) // the same bundle as before the start
	must(t, err)
	if got := p.Status().Replaced; got != seven {
		t.Errorf("after another start it is in the place of %q", got)
	}
	offered(9, "v9", "")
	offered(5, "v10", "") // the old files, built anew
	must(t, p.RollBack(t.Context(), api.Rollback{Revision: seven, By: "ana"}, anyway))
	offered(5, "v10", "")
	must(t, p.Resume(t.Context(), func() error { return nil }))
	if s := p.Status(); s.Revision != five || s.Replaced != "" {
		t.Errorf("after the end of a rollback %+v", s)
	}
}

func TestFilesAreTriedAndNotInForceWhileSomethingIsRolledBack(t *testing.T) {
	root := t.TempDir()
	p, told := watched(t, remembering(t, root))
	first := p.Revision()
	saved(t, root, p, told, 7)
	must(t, p.RollBack(t.Context(), api.Rollback{Revision: first}, anyway))
	write(t, filepath.Join(root, "policies/p.rego"), "package bailiff\n\n???\n")
	told.until(t, false)
	if s := p.Status(); s.OK || seconds(p) != 5 {
		t.Errorf("in force is %+v", s)
	}
	if err := p.Resume(t.Context(), nil); !errors.Is(err, api.ErrUnsound) || !strings.Contains(err.Error(), "p.rego:3") || seconds(p) != 5 {
		t.Errorf("the end with faulty files says %v", err)
	}
	write(t, filepath.Join(root, "policies/p.rego"), timed(9))
	for s := p.Status(); !s.OK; s = p.Status() {
		p.reload(t.Context(), true)
	}
	if seconds(p) != 5 {
		t.Errorf("in force is %+v", p.Status())
	}
	must(t, p.Resume(t.Context(), func() error { return nil }))
	if seconds(p) != 9 {
		t.Errorf("in force is %+v", p.Status())
	}
}

func TestARollbackOutlivesTheProcess(t *testing.T) {
	root := t.TempDir()
	c := remembering(t, root)
	p, told := watched(t, c)
	first := p.Revision()
	saved(t, root, p, told, 7)
	must(t, p.RollBack(t.Context(), api.Rollback{Revision: first, By: "ana"}, anyway))
	write(t, filepath.Join(root, "policies/p.rego"), "package bailiff\n\n???\n") // for which it was
	c.History, c.EvalTimeout = shelved(t, filepath.Join(root, "history")), time.Minute
	next, err := Open(t.Context(), c)
	must(t, err)
	if s := next.Status(); next.Revision() != first || seconds(next) != 5 || s.RolledBack == nil || s.RolledBack.By != "ana" || s.OK {
		t.Errorf("in force is %+v", s)
	}
}

func TestAStartWithARollbackAndABadBundleTellsBeingInForceFromBeingSound(t *testing.T) {
	by := newPair(t, "HS256")
	key := &source.Key{File: by.public, Algorithm: by.algorithm}
	good, bad := signed(t, by, house), built(t, tree(t, house), "v2") // which nobody signed
	c := Config{Archive: &source.Archive{Name: "https://house.test/b.tar.gz", Text: good, Key: key}, RequireTests: true,
		EvalTimeout: time.Minute,
		History:     shelved(t, t.TempDir())}
	p, err := Open(t.Context(), c)
	must(t, err)
	must(t, p.RollBack(t.Context(), api.Rollback{Revision: p.Revision(), By: "ana"}, anyway))
	c.Archive = &source.Archive{Name: c.Archive.Name, Text: bad, Key: key}
	next, err := Open(t.Context(), c)
	must(t, err)
	var faults source.Faults
	if wrong := next.Sound(); !errors.As(wrong, &faults) || !strings.Contains(wrong.Error(), "not signed") ||
		next.Revision() != p.Revision() || next.Status().RolledBack == nil {
		t.Errorf("in force is %+v, %v is wrong", next.Status(), wrong)
	}
	if err := next.Resume(t.Context(), nil); !errors.Is(err, api.ErrUnsound) {
		t.Errorf("the end with a bad bundle says %v", err)
	}
	must(t, next.Offer(t.Context(), good))
	must(t, next.Sound())
	must(t, next.Resume(t.Context(), func() error { return nil }))
}

// hasty goes away once something is in force.
type hasty struct{ leave func() }

func (h hasty) Reloaded(bool, string) { h.leave() }

func (hasty) OutOfTime() {}

func TestAStartWithARollbackThatIsCutShortFindsNoBundleSound(t *testing.T) {
	c := Config{Archive: &source.Archive{Name: "https://house.test/b.tar.gz", Text: built(t, tree(t, house), "v1")},
		EvalTimeout: time.Minute,
		History:     shelved(t, t.TempDir())}
	p, err := Open(t.Context(), c)
	must(t, err)
	must(t, p.RollBack(t.Context(), api.Rollback{Revision: p.Revision()}, anyway))
	ctx, cancel := context.WithCancel(t.Context())
	c.Archive, c.Observer = &source.Archive{Name: c.Archive.Name, Text: []byte("bad")}, hasty{cancel}
	if p, err := Open(ctx, c); err == nil {
		t.Errorf("nothing is said, and then %v", p.Sound())
	}
}

func TestADamagedHistoryIsNeverInForce(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, h *history.History, r history.Revision){
		"its text is another": func(t *testing.T, h *history.History, r history.Revision) {
			must(t, h.Keep(r, []history.File{{Name: "p.rego", Place: "p.rego", Text: []byte(timed(100))}}))
		},
		"its tests are gone": func(t *testing.T, h *history.History, r history.Revision) {
			files, err := h.Files(r)
			must(t, err)
			must(t, h.Keep(r, files[:1]))
		},
		"its text is gone": func(t *testing.T, h *history.History, r history.Revision) {
			must(t, os.Remove(filepath.Join(filepath.Dir(h.RollbackFile()), "revisions", r.Name+".gz")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			c := remembering(t, root)
			p, told := watched(t, c)
			first, err := c.History.Find(p.Revision())
			must(t, err)
			saved(t, root, p, told, 7)
			spoil(t, c.History, first)
			if err := p.RollBack(t.Context(), api.Rollback{Revision: first.Name}, nil); !errors.Is(err, api.ErrUnsound) || seconds(p) != 7 {
				t.Errorf("got %v", err)
			}
			must(t, c.History.RollBack(api.Rollback{Revision: first.Name, By: "ana"}))
			if _, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), "rollback.json") {
				t.Errorf("a start says %v, want it refused with what to do", err)
			}
		})
	}
}

func TestARollbackThatCannotBeWrittenDownChangesNothing(t *testing.T) {
	root := t.TempDir()
	c := remembering(t, root)
	p, told := watched(t, c)
	first := p.Revision()
	saved(t, root, p, told, 7)
	full := errors.New("the disk is full")
	if err := p.RollBack(t.Context(), api.Rollback{Revision: first}, func(api.Rollback) error { return full }); !errors.Is(err, full) ||
		seconds(p) != 7 {
		t.Errorf("got %v", err)
	}
	must(t, os.Mkdir(c.History.RollbackFile(), 0o700)) // nothing can be written there
	if err := p.RollBack(t.Context(), api.Rollback{Revision: first}, anyway); err == nil || seconds(p) != 7 ||
		p.Status().RolledBack != nil {
		t.Errorf("got %v, %+v", err, p.Status())
	}
}

func TestPoliciesComeIntoForceThoughTheHistoryCannotKeepThem(t *testing.T) {
	root := t.TempDir()
	c := remembering(t, root)
	p, told := watched(t, c)
	must(t, os.RemoveAll(filepath.Join(root, "history")))
	saved(t, root, p, told, 7)
	if p.Status().Unkept == nil {
		t.Error("that they are not kept is not told")
	}
}

func TestAStartWithTheSamePoliciesIsNoNews(t *testing.T) {
	c := Config{EvalTimeout: time.Minute, History: shelved(t, t.TempDir())}
	for range 2 {
		_, err := Open(t.Context(), c)
		must(t, err)
	}
	all, err := c.History.All()
	if err != nil || len(all) != 1 || all[0].Way != history.ByProgram {
		t.Fatalf("kept are %+v, %v", all, err)
	}
	since := all[0].Since
	_, err = Open(t.Context(), c)
	must(t, err)
	if all, _ := c.History.All(); !all[0].Since.Equal(since) {
		t.Errorf("in force since %s, want %s", all[0].Since, since)
	}
}

func TestPoliciesOfAnEarlierProgramMustPassTheirTests(t *testing.T) {
	backendtest.Long(t)
	c := Config{EvalTimeout: time.Minute, RequireTests: true, History: shelved(t, t.TempDir())}
	p, err := Open(t.Context(), c)
	must(t, err)
	must(t, p.RollBack(t.Context(), api.Rollback{Revision: p.Revision()}, anyway))
	files := []source.File{{Name: "p.rego", Place: "p.rego", Text: []byte(timed(3))}}
	must(t, c.History.Keep(history.Revision{Name: source.Revision(files), Content: source.Digest(files), Way: history.ByProgram},
		[]history.File{{Name: "p.rego", Place: "p.rego", Text: []byte(timed(3))}}))
	if err := p.RollBack(t.Context(), api.Rollback{Revision: source.Revision(files)}, nil); !errors.Is(err, api.ErrUnsound) ||
		!strings.Contains(err.Error(), "no tests") {
		t.Errorf("got %v", err)
	}
}
