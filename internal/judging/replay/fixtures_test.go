package replay

import (
	"context"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/judging/corpus"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shipped are the shipped policies, with more files without their tests.
func shipped(t testing.TB, more map[string]string) *pdp.PDP {
	t.Helper()
	if more == nil {
		p, err := pdp.Open(t.Context(), pdp.Config{EvalTimeout: time.Minute})
		must(t, err)
		return p
	}
	folder := t.TempDir()
	policytest.Copy(t, folder)
	for name, text := range more {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	p, err := pdp.Try(t.Context(), pdp.Config{Paths: []string{folder}, EvalTimeout: time.Minute})
	must(t, err)
	return p
}

// bare has no floor.
func bare(_ bailiff.Request, d bailiff.Decision) bailiff.Decision { return d }

// here are all kinds of backends.
var here = map[string]bailiff.BackendState{
	"docker": {Isolated: true, Ready: true}, "bubblewrap": {Isolated: true, Ready: true}, "local": {Ready: true},
}

// decided is the event of a request that these policies judge.
func decided(p *pdp.PDP, req bailiff.Request, at time.Time) api.Event {
	j := p.Decide(context.Background(), req, bailiff.Circumstances{Time: at, Backends: here, EnvAvailable: req.Env})
	return api.Event{
		DecisionID: "d-" + strconv.FormatInt(at.UnixNano(), 36), Timestamp: at, Path: api.DecisionPath, Input: j.Input, Result: j.Decision,
		Bundles: map[string]api.Bundle{"policies": {Revision: j.Decision.Revision}}, RequestedBy: "agent", Metrics: j.Timers,
		Custom: api.Custom{Event: api.DecisionEvent, Session: req.Session.ID},
	}
}

// noon is when the first decision of a log was made.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// logged writes the decisions about requests, a second apart, and returns the
// state folder.
func logged(t testing.TB, p *pdp.PDP, requests ...bailiff.Request) string {
	t.Helper()
	folder := t.TempDir()
	log, err := audit.Open(audit.Config{StateDir: folder})
	must(t, err)
	for i, req := range requests {
		log.Note(decided(p, req, noon.Add(time.Duration(i)*time.Second)))
	}
	must(t, log.Close())
	return folder
}

// chat is a request of somebody on a platform.
func chat(platform, user, command string) bailiff.Request {
	return bailiff.Request{Tool: bailiff.Terminal, Caller: "agent", Args: bailiff.Args{Command: command, Workdir: "/workspace"},
		Session: bailiff.Session{ID: platform + ":" + user, Platform: platform, ChatType: "dm", ChatID: user, UserID: user}}
}

// mixture is n requests such as agents send: of the corpus, from users of several
// platforms, some with variables, some to a process. Each is new, which means that its
// chat or its text is.
func mixture(t testing.TB, n int) []bailiff.Request {
	t.Helper()
	cases, err := corpus.Cases()
	must(t, err)
	requests := make([]bailiff.Request, n)
	for i := range requests {
		requests[i] = sent(cases[i%len(cases)], i, 5000)
	}
	return requests
}

// usual is a mixture in which few texts are frequent, most are rare, and some dozens
// of chats send them, as in a company.
func usual(t testing.TB, n int) []bailiff.Request {
	t.Helper()
	cases, err := corpus.Cases()
	must(t, err)
	seeded := rand.New(rand.NewSource(1))
	seeded.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	frequent := rand.NewZipf(seeded, 1.1, 4, uint64(len(cases)-1))
	requests := make([]bailiff.Request, n)
	for i := range requests {
		requests[i] = sent(cases[frequent.Uint64()], i, 50)
	}
	return requests
}

// sent is the i-th request, of a case.
func sent(c corpus.Case, i, users int) bailiff.Request {
	platforms := []string{"telegram", "slack", "discord", "cli"}
	r := chat(platforms[i/7%len(platforms)], strconv.Itoa(i%users), c.Command)
	switch {
	case c.Code != "":
		r.Tool, r.Args = bailiff.ExecuteCode, bailiff.Args{Code: c.Code}
	case i%17 == 0:
		r.Tool, r.Args = bailiff.Process, bailiff.Args{Action: "submit", ProcessID: "p1", Command: "bash", Data: c.Command}
	}
	if i%5 == 0 {
		r.Env = []string{"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"}
	}
	return r
}
