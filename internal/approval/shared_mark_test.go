package approval

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
	"github.com/bailiff-dev/bailiff/internal/fleet/watermark"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// bookWithMark is a book of a replica that keeps a mark. It is not closed by its test.
func bookWithMark(t *testing.T, dsn, name string, mark watermark.File, change ...func(*Config)) *fixture {
	t.Helper()
	c := configIn(t.TempDir())
	c.Path, c.Shared = "", replicaOf(t, dsn, name)
	c.Shared.Mark = mark
	for _, f := range change {
		f(&c)
	}
	f := &fixture{t: t, config: c, journal: c.Recorder.(*journal)}
	f.start()
	return f
}

// logged is what a book logs.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// end ends a book in order, with its connections.
func end(t *testing.T, f *fixture) {
	t.Helper()
	must(t, f.Close())
	f.config.Shared.DB.Close()
}

// crash ends a book as a kill does: its mark is not written any more, and its name is free.
func crash(t *testing.T, f *fixture, server *postgrestest.Server) {
	t.Helper()
	folder := filepath.Dir(string(f.config.Shared.Mark))
	must(t, os.Rename(folder, folder+".away"))
	end(t, f)
	must(t, os.Rename(folder+".away", folder))
	server.Exec(t, "bailiff", "UPDATE bailiff.replicas SET seen = '-infinity'")
}

func isAllFrozen(f *fixture) bool {
	return f.IsFrozen(bailiff.Session{ID: "any", Platform: "cli", UserID: "u9"})
}

// A start on a store that lacks what the sidecar saw there freezes everything until a person thaws it, and one on a
// store that has it all freezes nothing. A dump that is restored on the same server is told apart by nothing else.
func TestAStartOnAStoreThatLacksWhatWasSeenFreezesEverything(t *testing.T) {
	server := postgrestest.Start(t)
	dsn, file := server.Empty(t), watermark.File(filepath.Join(t.TempDir(), "mark"))
	start := func(want bool, why string) *fixture {
		t.Helper()
		f := bookWithMark(t, dsn, "one", file)
		if isAllFrozen(f) != want {
			t.Errorf("%s: everything is frozen: %v, want %v", why, !want, want)
		}
		return f
	}
	one := start(false, "the first start")
	rm := claim("rm revoked", "y")
	one.approve(one.ask(rm), "ana", "session")
	end(t, one)
	end(t, start(false, "after an end in order"))
	server.Exec(t, "postgres", "CREATE DATABASE dump TEMPLATE bailiff")

	one = start(false, "after a copy was made")
	for _, g := range one.Grants() {
		_, err := one.Revoke(t.Context(), g.ID, by("ben"))
		must(t, err)
	}
	_, err := one.Freeze(t.Context(), api.Freeze{Kind: "session", ID: "s9", By: "ben"})
	must(t, err)
	crash(t, one, server)
	crash(t, start(false, "after a crash"), server)

	server.Exec(t, "postgres", "DROP DATABASE bailiff WITH (FORCE)")
	server.Exec(t, "postgres", "ALTER DATABASE dump RENAME TO bailiff")
	one = start(true, "after the copy was put back")
	if one.Covered(rm) {
		t.Error("a grant that was revoked covers again")
	}
	f := one.Freezes()[0]
	if f.By != "bailiff" || !strings.Contains(f.Reason, "backup was restored") || !strings.Contains(f.Reason, "thaw --all") {
		t.Errorf("frozen: %+v", f)
	}
	awaittest.Until(t, "the decision log", func() bool { return strings.Contains(fmt.Sprint(one.journal.steps()), "frozen") })
	crash(t, one, server)
	one = start(true, "anew, before a person thawed it")
	if _, err := one.Thaw(t.Context(), "all", "", by("ben")); err != nil {
		t.Fatal(err)
	}
	end(t, one)
	end(t, start(false, "once a person thawed it"))

	must(t, os.WriteFile(string(file), []byte("{}"), 0o600))
	one = start(true, "with a mark that cannot be read")
	_, err = one.Freeze(t.Context(), api.Freeze{Kind: "all", By: "ben", Reason: "a theft"})
	must(t, err)
	end(t, one)
	must(t, os.Truncate(string(file), 0))
	one = start(true, "with an empty mark, where a person froze everything")
	if f := one.Freezes()[0]; !strings.Contains(f.Reason, "before that ben froze everything: a theft") {
		t.Errorf("frozen: %+v", f)
	}
	end(t, one)
	must(t, os.Remove(string(file)))
	server.Empty(t)
	end(t, start(false, "of a sidecar that never ran"))
	aMarkThatCannotBeWritten(t, server)
}

// A mark that cannot be written is tried again, and the store goes on.
func aMarkThatCannotBeWritten(t *testing.T, server *postgrestest.Server) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "later")
	mark := watermark.File(filepath.Join(dir, "mark"))
	said := &logged{}
	one := bookWithMark(t, server.Empty(t), "one", mark, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(said, nil)) })
	defer one.Close()
	awaittest.Until(t, "a failure", func() bool { return strings.Contains(said.String(), "how far PostgreSQL went cannot be kept") })
	_, err := one.Freeze(context.WithoutCancel(t.Context()), api.Freeze{Kind: "session", ID: "s9", By: "ben"})
	must(t, err)
	must(t, os.Mkdir(dir, 0o700))
	awaittest.Until(t, "the mark", func() bool {
		m, err := mark.Read()
		return err == nil && m.Replica == "one"
	})
	if one.Err() != nil {
		t.Errorf("the store fails: %v", one.Err())
	}
}
