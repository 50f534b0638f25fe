package approval

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/feed"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestPagesOfAList(t *testing.T) {
	f := open(t, func(c *Config) { c.Caps = Caps{Session: 100, User: 100} })
	var ids []string
	for n := range 25 {
		c := claim(fmt.Sprint("rm ", n), "x")
		c.Request.Session.ID = fmt.Sprint("s", n%2)
		ids = append(ids, f.ask(c))
	}
	f.approve(ids[3], "ana", "once")
	f.restart()
	page := func(q api.Query) (got []string, pages int) {
		for {
			entries, next := f.List(q)
			for _, e := range entries {
				got = append(got, e.ID)
			}
			if pages++; next == "" {
				return got, pages
			}
			q.After = next
		}
	}
	for _, c := range []struct {
		name         string
		query        api.Query
		count, pages int
	}{
		{"all in one", api.Query{}, 25, 1},
		{"all in pages of ten", api.Query{Limit: 10}, 25, 3},
		{"pages that come out even", api.Query{Limit: 5}, 25, 5},
		{"pending ones", api.Query{State: "pending", Limit: 10}, 24, 3},
		{"approved ones", api.Query{State: "approved"}, 1, 1},
		{"of a session", api.Query{Session: "s1"}, 12, 1},
		{"of a user", api.Query{User: "telegram:42"}, 25, 1},
		{"of another user", api.Query{User: "4"}, 0, 1},
	} {
		got, pages := page(c.query)
		if len(got) != c.count || pages != c.pages ||
			!slices.IsSortedFunc(got, func(x, y string) int { return slices.Index(ids, x) - slices.Index(ids, y) }) {
			t.Errorf("%s: %d in %d pages: %v", c.name, len(got), pages, got)
		}
	}
}

func TestBigTextsStayOnDisk(t *testing.T) {
	f := open(t)
	c := claim(strings.Repeat("é", 1<<19), strings.Repeat("x", 1<<20))
	c.Request.Session.ID = "big"
	c.Input = json.RawMessage(`{"big":"` + strings.Repeat("y", 1<<20) + `"}`)
	c.Files = []bailiff.File{{Path: "/f", SHA256: "1"}}
	id := f.ask(c)
	f.approve(f.ask(claim("small", strings.Repeat("x", 1<<20))), "ana", "session")
	for range 2 {
		whole, _ := f.Get(id)
		if whole.Shortened || whole.Request.Args != c.Request.Args || !slices.Equal(whole.Files, c.Files) ||
			!reflect.DeepEqual(whole.Reasons[0], c.Decision.Approval.Reasons[0]) || len(whole.Input) < 1<<20 {
			t.Error("it is not whole")
		}
		entries, _ := f.List(api.Query{Session: "big"})
		text, err := json.Marshal(entries)
		if err != nil || len(text) > 8000 || !entries[0].Shortened || entries[0].Input != nil {
			t.Errorf("a list has %d bytes, %v", len(text), err)
		}
		if !f.Covered(claim("other", strings.Repeat("x", 1<<20))) || f.Covered(claim("other", strings.Repeat("x", 1<<20-1))) {
			t.Error("a grant goes by a part of its match")
		}
		f.restart()
	}
}

func TestKnownSecretsAreShownNowhere(t *testing.T) {
	const secret = "hunter2-\"x\""
	hide := func(text []byte) []byte { return []byte(strings.ReplaceAll(string(text), secret, "[hidden]")) }
	f := open(t, func(c *Config) { c.Scrub = hide })
	c := claim("curl -H "+secret, "a "+secret)
	c.Request.Args.Stdin, c.Request.Session.UserName = secret, secret
	c.Files = []bailiff.File{{Path: "/" + secret, SHA256: "1"}}
	input, err := json.Marshal(map[string]any{"command": map[string]any{secret: []string{secret}}})
	must(t, err)
	c.Input = json.RawMessage(input)
	changes, stop := f.Watch()
	defer stop()
	id := f.ask(c)
	e, err := f.Answer(t.Context(), id, by("ana"), bailiff.Verdict{Approve: true, Scope: "session", Reason: "since " + secret})
	must(t, err)
	f.Freeze(t.Context(), api.Freeze{Kind: "session", ID: "other", Reason: secret, By: "ana"})
	shown := []any{e, f.Grants(), f.Freezes(), <-changes, <-changes}
	entries, _ := f.List(api.Query{})
	whole, _ := f.Get(id)
	awaittest.Until(t, "all events", func() bool { return len(f.journal.steps()) == 4 })
	for _, what := range append(shown, entries, whole, f.journal.events) {
		text, err := json.Marshal(what)
		if err != nil || strings.Contains(string(text), "hunter2") {
			t.Errorf("shown: %s, %v", text, err)
		}
	}
	if whole.Request.Args.Command != "curl -H [hidden]" || whole.Digest != c.Digest() {
		t.Errorf("%s, digest %s", whole.Request.Args.Command, whole.Digest)
	}
	if f.restart(); !f.redeem(c) {
		t.Error("what was approved is not covered")
	}
	if f.redeem(with(c, func(c *bailiff.Claim) { *c = claim("curl", "a [hidden]") })) {
		t.Error("what looks like it is covered too")
	}
}

func TestWatching(t *testing.T) {
	f := open(t)
	changes, stop := f.Watch()
	id := f.ask(claim("rm", "x"))
	f.approve(id, "ana", "once")
	f.redeem(claim("rm", "x"))
	f.Freeze(t.Context(), api.Freeze{Kind: "all", By: "ben"})
	f.Thaw(t.Context(), "all", "", by("ben"))
	var got []string
	for range 6 {
		c := <-changes
		switch {
		case c.Entry != nil:
			got = append(got, string(c.Entry.State))
		case c.Grant != nil:
			got = append(got, fmt.Sprint("grant gone ", c.Gone))
		case c.Freeze != nil:
			got = append(got, fmt.Sprint("freeze gone ", c.Gone))
		}
	}
	want := []string{"pending", "approved", "grant gone false", "grant gone true", "freeze gone false", "freeze gone true"}
	if !slices.Equal(got, want) {
		t.Errorf("changes are %v", got)
	}
	stop()
	stop()
	if _, more := <-changes; more {
		t.Error("it goes on after stop")
	}
}

func TestASlowWatcherIsToldThatItLostChanges(t *testing.T) {
	f := open(t)
	changes, stop := f.Watch()
	defer stop()
	for range 3 * feed.Buffer / 2 {
		f.Freeze(t.Context(), api.Freeze{Kind: "all", By: "ben"})
	}
	for n := range feed.Buffer {
		if c := <-changes; c.Lost != (n == feed.Buffer-1) {
			t.Fatalf("change %d: %+v", n, c)
		}
	}
	f.Thaw(t.Context(), "all", "", by("ben"))
	if c := <-changes; c.Lost || !c.Gone {
		t.Errorf("afterwards %+v", c)
	}
}

// counts is an observer.
type counts struct {
	mu                sync.Mutex
	pending, resolved map[string]int
	grants, refused   int
}

func (c *counts) ApprovalOpened(platform string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[platform]++
}

func (c *counts) ApprovalResolved(platform, resolution, scope string, _ time.Duration, _ string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[platform]--
	c.resolved[strings.TrimSpace(resolution+" "+scope)]++
}

func (c *counts) ApprovalEndedElsewhere(platform string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[platform]--
}

func (c *counts) ApprovalRefused(_, resolution string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if resolution == "refused" {
		c.refused++
	} else {
		c.resolved[resolution]++
	}
}

func (c *counts) GrantsActive(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grants = n
}

func (c *counts) PatternApproved(string) { c.add("pattern approved") }
func (c *counts) PatternUsed(string)     { c.add("pattern used") }

func (c *counts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resolved[what]++
}

func TestWhatIsCounted(t *testing.T) {
	c := &counts{pending: map[string]int{}, resolved: map[string]int{}}
	f := open(t, func(config *Config) { config.Observer = c })
	f.approve(f.ask(claim("rm 1", "x")), "ana", "session")
	f.Answer(t.Context(), f.ask(claim("rm 2", "y")), by("ana"), bailiff.Verdict{})
	f.floodUnanswerable(2)
	f.ask(with(claim("rm 3", "z"), func(c *bailiff.Claim) { c.Request.Session.ID = "s2" }))
	f.ask(claim("rm 4", "z"))
	f.Freeze(t.Context(), api.Freeze{Kind: "session", ID: "s2", By: "ben"})
	if c.pending["telegram"] != 1 || c.grants != 1 ||
		fmt.Sprint(c.resolved) != "map[approved session:1 cancelled:1 denied:1 unanswerable:2]" {
		t.Errorf("%+v", c)
	}
	*c = counts{pending: map[string]int{}}
	if f.restart(); c.pending["telegram"] != 1 || c.grants != 1 {
		t.Errorf("after a restart %+v", c)
	}
}

func TestAnIncompleteConfigIsRefused(t *testing.T) {
	if _, err := Open(Config{}); err == nil || err.Error() != "approval config lacks Path, Recorder, Router" {
		t.Errorf("got %v", err)
	}
}
