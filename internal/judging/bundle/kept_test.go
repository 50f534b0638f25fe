package bundle

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestAStartWithoutTheServerTakesWhatWasKept(t *testing.T) {
	t.Parallel() // it waits
	at := serve(t, "v1")
	c := at.config(t)
	_, err := opened(t, source(t, c))
	must(t, err)
	for name, has := range map[string]struct {
		text   string
		status int
		want   []string
	}{"it refuses": {"v1", http.StatusNotFound, []string{"v1"}}, "what it has is not sound": {"bad", 0, []string{"bad", "v1"}}} {
		at.has(has.text, has.status)
		s := source(t, c)
		if texts, err := opened(t, s); err != nil || !slices.Equal(texts, has.want) || s.Status().Fault == nil ||
			!s.Status().Confirmed.IsZero() {
			t.Errorf("%s: opened %v, %v, %+v", name, texts, err, s.Status())
		}
	}
	at.Close()
	if texts, err := opened(t, source(t, c)); err != nil || !slices.Equal(texts, []string{"v1"}) {
		t.Errorf("without a server: opened %v, %v", texts, err)
	}
}

func TestAStartThatHasNothingSoundSaysWhatIsWrongWithBoth(t *testing.T) {
	t.Parallel()
	at := serve(t, "bad")
	c := at.config(t)
	if _, err := opened(t, source(t, c)); err == nil || !errors.Is(err, errBad) || !strings.Contains(err.Error(), "none was kept before") {
		t.Errorf("got %v", err)
	}
	must(t, os.WriteFile(File(c.Dir), []byte("bad too"), 0o600))
	at.has("", http.StatusNotFound)
	if _, err := opened(t, source(t, c)); err == nil || !errors.Is(err, errBad) || !strings.Contains(err.Error(), "answered 404") {
		t.Errorf("got %v", err)
	}
	must(t, os.WriteFile(File(c.Dir), []byte("v1"), 0o600))
	must(t, os.Chmod(File(c.Dir), 0o666))
	if _, err := opened(t, source(t, c)); err == nil || !strings.Contains(err.Error(), "others may write") {
		t.Errorf("got %v", err)
	}
}

func TestAStartWithARollbackAndABadBundleKeepsTheLastGoodOne(t *testing.T) {
	t.Parallel()
	at := serve(t, "v1")
	c := at.config(t)
	_, err := opened(t, source(t, c))
	must(t, err)
	at.has("bad", 0)
	s := source(t, c)
	if texts, err := openedBy(t, s, true); err != nil || !slices.Equal(texts, []string{"bad", "v1"}) ||
		!errors.Is(s.Status().Fault, errBad) || !s.Status().Confirmed.IsZero() {
		t.Errorf("opened %v, %v, %+v", texts, err, s.Status())
	}
	if kept, err := LastGood(c.Dir); string(kept) != "v1" {
		t.Errorf("kept is %s, %v", kept, err)
	}
	if text := follow(t, s).next(t); text != "bad" {
		t.Errorf("offered again is %s", text)
	}
}

func TestABundleThatCannotBeKeptIsToldOfAndKeptOnceItCanBe(t *testing.T) {
	t.Parallel() // it waits
	at := serve(t, "v1")
	c := at.config(t)
	must(t, os.Mkdir(File(c.Dir), 0o700)) // in its way
	s := source(t, c)
	_, err := opened(t, s)
	must(t, err)
	if now := s.Status(); now.Unkept == nil || now.Fault != nil || now.Confirmed.IsZero() {
		t.Errorf("a bundle that cannot be kept: %+v", now)
	}
	at.has("v1", http.StatusForbidden)
	follow(t, s)
	awaittest.Until(t, "the fault", func() bool { return s.Status().Fault != nil })
	if s.Status().Unkept == nil {
		t.Error("a fault of the server hides that the bundle is not kept")
	}
	must(t, os.Remove(File(c.Dir)))
	at.has("v1", 0)
	awaittest.Until(t, "the bundle that is kept", func() bool { return s.Status().Unkept == nil })
	if kept, err := LastGood(c.Dir); string(kept) != "v1" {
		t.Errorf("kept is %s, %v", kept, err)
	}
}

func TestWhatASourceThatWasKilledHadBegunToKeepIsCleared(t *testing.T) {
	t.Parallel()
	at := serve(t, "v1")
	c := at.config(t)
	begun := filepath.Join(c.Dir, ".new-1")
	must(t, os.WriteFile(File(c.Dir), []byte("v1"), 0o600))
	must(t, os.WriteFile(begun, []byte("v"), 0o600))
	source(t, c)
	if _, err := os.Stat(begun); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a bundle is still there: %v", err)
	}
	if kept, err := LastGood(c.Dir); string(kept) != "v1" {
		t.Errorf("kept is %s, %v", kept, err)
	}
}

func TestARollbackStartsThoughNoBundleIsSound(t *testing.T) {
	t.Parallel()
	at := serve(t, "bad")
	c := at.config(t)
	s := source(t, c)
	if texts, err := openedBy(t, s, true); err != nil || len(texts) != 1 ||
		!strings.Contains(s.Status().Fault.Error(), "none was kept before") {
		t.Errorf("opened %v, %v, %+v", texts, err, s.Status())
	}
	must(t, os.WriteFile(File(c.Dir), []byte("bad too"), 0o600))
	if texts, err := openedBy(t, source(t, c), true); err != nil || len(texts) != 2 {
		t.Errorf("opened %v, %v", texts, err)
	}
}
