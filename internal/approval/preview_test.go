package approval

import (
	"errors"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestAPatternIsSuggestedFromWhatWasAskedBefore(t *testing.T) {
	for name, c := range map[string]struct {
		before []string
		asked  string
		change func(*bailiff.Claim)
		want   *api.Preview
	}{
		"of the word that differs": {[]string{"rm -r a", "rm -r b"}, "rm -r c", nil, &api.Preview{Match: "rm -r *", Covered: 3, Of: 3}},
		"of the place that differs mostly": {[]string{"rm x a", "rm b c", "rm b d"}, "rm b a", nil,
			&api.Preview{Match: "rm b *", Covered: 3, Of: 4}},
		"of no option":                 {[]string{"rm -r a"}, "rm -f a", nil, &api.Preview{Of: 2}},
		"of no program":                {[]string{"rm a b"}, "mv a b", nil, &api.Preview{Of: 2}},
		"of no path out of the folder": {[]string{"rm -r /a"}, "rm -r b", nil, &api.Preview{Of: 2}},
		"of two words never":           {[]string{"rm a b"}, "rm c d", nil, &api.Preview{Of: 2}},
		"of another length never":      {[]string{"rm a"}, "rm a b", nil, &api.Preview{Of: 2}},
		"where none may be approved": {[]string{"rm -r a"}, "rm -r b",
			func(c *bailiff.Claim) { c.Decision.Approval.Patterns = false }, nil},
		"where only once is offered": {[]string{"rm -r a"}, "rm -r b",
			func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"once"} }, nil},
		"where two must say yes": {[]string{"rm -r a"}, "rm -r b", func(c *bailiff.Claim) { c.Decision.Approval.Quorum = 2 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			for _, text := range c.before {
				f.ask(patternable(text))
			}
			asked := patternable(c.asked)
			if c.change != nil {
				c.change(&asked)
			}
			id := f.ask(asked)
			e, _ := f.Get(id)
			if got := e.Pattern; (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("suggested is %+v, want %+v", got, c.want)
			}
			if _, err := f.Preview(id, "rm -r *"); c.want == nil && !errors.Is(err, api.ErrScope) {
				t.Errorf("its preview is %v", err)
			}
			f.Answer(t.Context(), id, by("ana"), bailiff.Verdict{})
			if e, _ := f.Get(id); e.Pattern != nil {
				t.Errorf("suggested after the answer is %+v", e.Pattern)
			}
		})
	}
}

func TestPatternsAreCounted(t *testing.T) {
	t.Parallel()
	c := &counts{pending: map[string]int{}, resolved: map[string]int{}}
	f := open(t, func(config *Config) { config.Observer = c })
	must(t, f.approvePattern(patternable("rm -r build"), "session", "rm -r *"))
	f.redeem(patternable("rm -r dist"))
	f.redeem(patternable("rm -r /dist"))
	f.approve(f.ask(patternable("rm -f a")), "ana", "session")
	f.redeem(patternable("rm -f a"))
	if c.resolved["pattern approved"] != 1 || c.resolved["pattern used"] != 1 {
		t.Errorf("counted is %v", c.resolved)
	}
}
