package approval

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// patternable is a claim for which a pattern of its words may be approved.
func patternable(text string) bailiff.Claim {
	words := strings.Fields(text)
	return with(claim(text, words[len(words)-1]), func(c *bailiff.Claim) {
		c.Call, c.Decision.Approval.Patterns = words, true
	})
}

// approvePattern has ana say yes to a pattern.
func (f *fixture) approvePattern(c bailiff.Claim, scope, match string) error {
	f.t.Helper()
	_, err := f.Answer(f.t.Context(), f.ask(c), by("ana"), bailiff.Verdict{Approve: true, Scope: scope, Match: match})
	return err
}

func TestWhatAPatternCovers(t *testing.T) {
	type change = func(*bailiff.Claim)
	for name, c := range map[string]struct {
		text   string
		change change
		covers string // the scopes that do
	}{
		"the same words":                {"rm -r build", nil, "session always"},
		"another word":                  {"rm -r dist-a.b_c", nil, "session always"},
		"a word of this folder":         {"rm -r ./dist", nil, "session always"},
		"a path, perhaps by a link":     {"rm -r dist/a", nil, ""},
		"a name that begins with a dot": {"rm -r .git", nil, ""},
		"a name and a sign before it":   {"rm -r +dist", nil, ""},
		"a name and a sign behind it":   {"rm -r dist+", nil, ""},
		"an expression":                 {"rm -r .+", nil, ""},
		"none but zeros":                {"rm -r 0", nil, ""},
		"an option in the word's place": {"rm -r --no-preserve-root", nil, ""},
		"one more word":                 {"rm -r build dist", nil, ""},
		"one word less":                 {"rm -r", nil, ""},
		"another option":                {"rm -rf build", nil, ""},
		"another program":               {"/bin/rm -r build", nil, ""},
		"an absolute path":              {"rm -r /etc", nil, ""},
		"a home":                        {"rm -r ~/x", nil, ""},
		"a path out of the folder":      {"rm -r build/../../x", nil, ""},
		"an address":                    {"rm -r https://x.test", nil, ""},
		"another host's path":           {"rm -r me@x.test:a", nil, ""},
		"a name that is not told":       {"rm -r $X", nil, ""},
		"another session":               {"rm -r dist", func(c *bailiff.Claim) { c.Request.Session.ID = "s2" }, "always"},
		"another user":                  {"rm -r dist", func(c *bailiff.Claim) { c.Request.Session.UserID = "43" }, ""},
		"another caller":                {"rm -r dist", func(c *bailiff.Claim) { c.Request.Caller = "other" }, ""},
		"another backend":               {"rm -r dist", func(c *bailiff.Claim) { c.Decision.Backend.Name = "local" }, ""},
		"another folder":                {"rm -r dist", func(c *bailiff.Claim) { c.Request.Args.Workdir = "/etc" }, ""},
		"another one of that name":      {"rm -r dist", func(c *bailiff.Claim) { c.Ground.Folder = "1:3" }, ""},
		"a link in the word's place": {"rm -r dist", func(c *bailiff.Claim) {
			c.Ground.Links = []bailiff.Link{{Path: "/w/dist", Targets: []string{"/other"}}}
		}, ""},
		"other policies":            {"rm -r dist", func(c *bailiff.Claim) { c.Decision.Revision = "r2" }, ""},
		"policies without patterns": {"rm -r dist", func(c *bailiff.Claim) { c.Decision.Approval.Patterns = false }, ""},
		"a text that is not plain":  {"rm -r dist", func(c *bailiff.Claim) { c.Plain = false }, ""},
		"more than one call":        {"rm -r dist", func(c *bailiff.Claim) { c.Call = nil }, ""},
		"standard input":            {"rm -r dist", func(c *bailiff.Claim) { c.Request.Args.Stdin = "x" }, ""},
		"a file that it runs":       {"rm -r dist", func(c *bailiff.Claim) { c.Files = []bailiff.File{{Path: "/x", SHA256: "1"}} }, ""},
		"one more variable":         {"rm -r dist", func(c *bailiff.Claim) { c.Decision.Env.Forward = []string{"X"} }, ""},
		"one more rule": {"rm -r dist", func(c *bailiff.Claim) {
			more := bailiff.Reason{Rule: "a.b", Message: "x", Match: "m"}
			c.Decision.Approval.Reasons = append(slices.Clone(c.Decision.Approval.Reasons), more)
		}, ""},
	} {
		for _, scope := range []string{"session", "always"} {
			t.Run(name+" by "+scope, func(t *testing.T) {
				t.Parallel()
				f := open(t)
				must(t, f.approvePattern(patternable("rm -r build"), scope, "rm  -r *"))
				f.restart()
				other, want := patternable(c.text), strings.Contains(c.covers, scope)
				if c.change != nil {
					c.change(&other)
				}
				if f.Covered(other) != want || f.redeem(other) != want || f.redeem(other) != want {
					t.Errorf("covered is not %v", want)
				}
			})
		}
	}
}

func TestAPatternThatIsNotOffered(t *testing.T) {
	for name, c := range map[string]struct {
		match, scope string
		change       func(*bailiff.Claim)
	}{
		"for once":             {"rm -r *", "once", nil},
		"for no scope":         {"rm -r *", "", nil},
		"without a *":          {"rm -r build", "session", nil},
		"of the program":       {"* -r build", "session", nil},
		"of an option":         {"rm * build", "session", nil},
		"of a part of a word":  {"rm -r bu*", "session", nil},
		"of other words":       {"rm -rf *", "session", nil},
		"of more words":        {"rm -r * *", "session", nil},
		"of nothing":           {" ", "session", nil},
		"of a text of two":     {"rm -r *", "session", func(c *bailiff.Claim) { c.Call = nil }},
		"of no plain text":     {"rm -r *", "session", func(c *bailiff.Claim) { c.Plain = false }},
		"without the policies": {"rm -r *", "session", func(c *bailiff.Claim) { c.Decision.Approval.Patterns = false }},
		"in a scope not offered": {"rm -r *", "always",
			func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"once", "session"} }},
		"of a quorum": {"rm -r *", "session", func(c *bailiff.Claim) { c.Decision.Approval.Quorum = 2 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, asked := open(t), patternable("rm -r build")
			if c.change != nil {
				c.change(&asked)
			}
			if err := f.approvePattern(asked, c.scope, c.match); !errors.Is(err, api.ErrScope) {
				t.Errorf("the answer is %v", err)
			}
			if e, _ := f.Get(f.ask(asked)); e.State != bailiff.ApprovalPending || len(e.Votes) > 0 || len(f.Grants()) > 0 {
				t.Errorf("it is %s by %v, with grants %v", e.State, e.Votes, f.Grants())
			}
		})
	}
}

func TestAPatternEndsWithin30Days(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		must(t, f.approvePattern(patternable("rm -r build"), "always", "rm -r *"))
		g := f.Grants()[0]
		if g.Match != "rm -r *" || g.Revision != "r1" || g.Expires.Sub(g.Created) != 30*24*time.Hour || len(g.Pairs) != 1 {
			t.Errorf("the grant is %+v", g)
		}
		time.Sleep(30*24*time.Hour + time.Second)
		if f.Covered(patternable("rm -r dist")) {
			t.Error("it covers a request after 30 days")
		}
		f.Book.Close()
	})
}

func TestAPreviewCountsTheUsersLastRequests(t *testing.T) {
	f := open(t)
	var id string
	for _, text := range []string{"rm -r a", "rm -r /c", "rm -rf d", "rm -r build"} {
		id = f.ask(patternable(text))
	}
	f.ask(with(patternable("rm -r e"), func(c *bailiff.Claim) { c.Request.Session.UserID = "43" }))
	f.ask(with(patternable("rm -r f"), func(c *bailiff.Claim) { c.Decision.Approval.Reasons[0].Rule = "a.b" }))
	if p, err := f.Preview(id, "rm -r *"); err != nil || p != (api.Preview{Match: "rm -r *", Covered: 2, Of: 5}) {
		t.Errorf("the preview is %+v, %v", p, err)
	}
	if _, err := f.Preview(id, "* -r build"); !errors.Is(err, api.ErrScope) {
		t.Errorf("the preview of a wrong pattern is %v", err)
	}
	if _, err := f.Preview("a-none", "rm -r *"); !errors.Is(err, api.ErrUnknown) {
		t.Errorf("the preview of an unknown approval is %v", err)
	}
}
