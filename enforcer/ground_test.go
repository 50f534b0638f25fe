package enforcer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bailiff-dev/bailiff"
)

// surveyor is a judge by whom a text names paths, and who asks about one that could not be looked at and denies one that
// leads to a secret.
type surveyor struct {
	paths []string
	many  bool
}

func (s surveyor) Decide(_ context.Context, _ bailiff.Request, at bailiff.Circumstances) bailiff.Judgement {
	d := allow()
	leads := func(l bailiff.Link) bool { return slices.Contains(l.Targets, "/secret") }
	switch {
	case slices.ContainsFunc(at.Ground.Links, leads):
		d = deny(d, "secret", "It is one.")
	case at.Ground.Unseen:
		d.Outcome, d.Approval = bailiff.Ask, &bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: "hidden", Message: "It hides."}}}
	}
	return bailiff.Judgement{Decision: d, Paths: s.paths, AllPaths: !s.many}
}

func TestWhatPathsLeadToIsJudgedWhereNothingIsIsolated(t *testing.T) {
	t.Parallel()
	type ground = bailiff.Ground
	answers := func(g ground, err error) func(context.Context, []string) (ground, error) {
		return func(context.Context, []string) (ground, error) { return g, err }
	}
	link := func(target string) ground {
		return ground{Links: []bailiff.Link{{Path: "/w/q", Targets: []string{target}}}, Folder: "1:2"}
	}
	for name, c := range map[string]struct {
		judge   surveyor
		resolve func(context.Context, []string) (ground, error)
		status  bailiff.Status
	}{
		"no link":                  {surveyor{paths: []string{"/w/q"}}, answers(ground{}, nil), bailiff.Completed},
		"an ordinary link":         {surveyor{paths: []string{"/w/q"}}, answers(link("/w/x"), nil), bailiff.Completed},
		"a link to a secret":       {surveyor{paths: []string{"/w/q"}}, answers(link("/secret"), nil), bailiff.Refused},
		"no path":                  {surveyor{}, answers(link("/secret"), nil), bailiff.Completed},
		"more paths than are told": {surveyor{paths: []string{"/w/q"}, many: true}, answers(ground{}, nil), bailiff.ApprovalRequired},
		"what cannot be looked at": {surveyor{paths: []string{"/w/q"}}, answers(ground{Unseen: true}, nil), bailiff.ApprovalRequired},
		"a runner that does not answer": {surveyor{paths: []string{"/w/q"}}, answers(ground{}, errors.New("gone")),
			bailiff.ApprovalRequired},
		"a sandbox that cannot tell": {surveyor{paths: []string{"/w/q"}}, answers(ground{}, errors.ErrUnsupported), bailiff.Unavailable},
		"a file system that hangs": {surveyor{paths: []string{"/w/q"}}, func(ctx context.Context, _ []string) (ground, error) {
			<-ctx.Done()
			return ground{}, ctx.Err()
		}, bailiff.ApprovalRequired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(b *bench) { b.fakeBackend.resolve = c.resolve })
				b.config.Decider = c.judge
				req := request("head q")
				req.Session.Platform = "cli"
				if a := b.Execute(t.Context(), req, nil); a.Status != c.status {
					t.Errorf("the answer is %s: %s, want %s", a.Status, a.Message, c.status)
				}
				b.Close(t.Context())
			})
		})
	}
}

func TestACardOfTheHostSaysWhatALookAtPathsCannotHold(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.fakeBackend.resolve = func(context.Context, []string) (bailiff.Ground, error) {
			q := bailiff.Link{Path: "/w/q", Targets: []string{"/w/r", "/srv/x"}}
			return bailiff.Ground{Links: []bailiff.Link{q}, Folder: "1:2", Unseen: true}, nil
		}
	})
	b.config.Decider = surveyor{paths: []string{"/w/q"}}
	req := request("head q")
	req.Session.Platform = "cli"
	b.Execute(t.Context(), req, nil)
	if len(b.human.asked) != 1 {
		t.Fatalf("asked about %d requests", len(b.human.asked))
	}
	said := b.human.asked[0].Decision.Approval.Reasons[0].Message
	for _, want := range []string{"/w/q leads to /srv/x", "another process may still change", "what the paths of the command lead to"} {
		if !strings.Contains(said, want) {
			t.Errorf("the card says %q, want %q in it", said, want)
		}
	}
}
