package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// askFor asks about a claim.
func (o *notifierTest) askFor(c bailiff.Claim) string {
	o.t.Helper()
	a, err := o.book.Ask(o.t.Context(), c)
	if err != nil {
		o.t.Fatal(err)
	}
	return a.ID
}

// posted waits for so many messages, and returns the last.
func (o *notifierTest) posted(n int) (Message, Ref) {
	o.t.Helper()
	shown, refs := o.poster.await(o.t, fmt.Sprint(n, " messages"), func(m []Message) bool { return len(m) == n })
	return shown[n-1], refs[n-1]
}

func TestAMessageListsWhatElseWaitsAndOneYesCoversIt(t *testing.T) {
	t.Parallel()
	o := opened(t)
	var ids []string
	for n, text := range []string{"rm -r a", "rm -r b", "rm -r c"} {
		ids = append(ids, o.ask(text))
		o.posted(n + 1)
	}
	third, at := o.posted(3)
	if text := plain(third.Text); !strings.Contains(text, "\nalso waiting, 2: rm -r a (command.deletes_recursively)"+
		"\nalso waiting, 3: rm -r b (command.deletes_recursively)\nruns in") {
		t.Errorf("it lists %s", text)
	}
	token := tokenOf(t, third, "Approve all 3, once")
	late := o.ask("rm -r d")
	o.posted(4)
	o.notifier.Clicked(t.Context(), Click{By: Person{ID: "ben"}, On: at, Token: "forged"})
	if _, err := o.book.Answer(t.Context(), ids[0], identify("slack", "ben"), bailiff.Verdict{}); err != nil {
		t.Fatal(err)
	}
	o.poster.await(t, "it says what became of what it lists", func(m []Message) bool {
		return strings.Contains(plain(m[2].Text), "rm -r a (command.deletes_recursively) is denied by now\nalso waiting, 3: rm -r b "+
			"(command.deletes_recursively)\n")
	})
	told := o.clickOn("ana", token, at)
	if want := fmt.Sprintf("You approved %s. Of %s: Too late: ", ids[2], ids[0]); !strings.HasPrefix(told, want) ||
		!strings.HasSuffix(told, " You approved "+ids[1]+".") {
		t.Errorf("ana is told %q, want %q", told, want)
	}
	for i, want := range []bailiff.ApprovalState{bailiff.ApprovalDenied, bailiff.ApprovalApproved, bailiff.ApprovalApproved} {
		if o.state(ids[i]) != want {
			t.Errorf("approval %d is %s, want %s", i+1, o.state(ids[i]), want)
		}
	}
	if o.state(late) != bailiff.ApprovalPending || o.counts.of("clicked listed") != 1 {
		t.Errorf("a later one is %s, counted is %v", o.state(late), o.counts.all)
	}
	for _, g := range o.book.Grants() {
		if g.Scope != bailiff.ScopeOnce {
			t.Errorf("granted is %s", g.Scope)
		}
	}
}

func TestWhatIsListedIsAnsweredByItsOwnDigest(t *testing.T) {
	t.Parallel()
	o := opened(t)
	first := o.ask("rm -r a")
	o.posted(1)
	second := o.ask("rm -r b")
	shown, at := o.posted(2)
	o.knows(second)
	p := o.notifier.find(second)
	p.Listed = []alsoListed{{ID: first, Digest: "another", Text: p.Listed[0].Text}}
	if err := o.notifier.save(p); err != nil {
		t.Fatal(err)
	}
	told := o.clickOn("ana", tokenOf(t, shown, "Approve all"), at)
	if o.state(first) != bailiff.ApprovalPending || !strings.Contains(told, "so it was not answered") {
		t.Errorf("ana is told %q, and it is %s", told, o.state(first))
	}
}

func TestWhatIsNotListed(t *testing.T) {
	for name, change := range map[string]func(*bailiff.Claim){
		"another session":   func(c *bailiff.Claim) { c.Request.Session.ID = "s2" },
		"another user":      func(c *bailiff.Claim) { c.Request.Session.UserID = "43" },
		"another caller":    func(c *bailiff.Claim) { c.Request.Caller = "other" },
		"another backend":   func(c *bailiff.Claim) { c.Decision.Backend.Name = "local" },
		"another network":   func(c *bailiff.Claim) { c.Decision.Backend.Network = "full" },
		"one more variable": func(c *bailiff.Claim) { c.Decision.Env.Forward = []string{"A", "GITHUB_TOKEN"} },
		"another folder":    func(c *bailiff.Claim) { c.Request.Args.Workdir = "/etc" },
		"standard input":    func(c *bailiff.Claim) { c.Request.Args.Stdin = "yes" },
		"another tool": func(c *bailiff.Claim) {
			c.Request.Tool, c.Request.Args = bailiff.ExecuteCode, bailiff.Args{Code: "print(1)"}
		},
		"a text that is too long": func(c *bailiff.Claim) { c.Request.Args.Command = "rm -r " + strings.Repeat("x", longestListed) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := opened(t)
			c := claim("rm -r a", "42")
			change(&c)
			o.askFor(c)
			o.posted(1)
			o.ask("rm -r b")
			shown, _ := o.posted(2)
			if text := plain(shown.Text); strings.Contains(text, "also waiting") || len(shown.Buttons) != 4 {
				t.Errorf("it says %s", text)
			}
		})
	}
}

// patterned is a claim of a plain text for which the policies offer patterns.
func patterned(command string) bailiff.Claim {
	c := claim(command, "42")
	terms := *c.Decision.Approval
	terms.Patterns, terms.Scopes = true, []string{"once", "session", "always"}
	c.Decision.Approval, c.Call = &terms, strings.Fields(command)
	return c
}

func TestAMessageOffersAPatternWithWhatItWouldHaveCovered(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{"The pattern, this session": "session", "The pattern, 30 days": "always"} {
		o := opened(t)
		first := o.askFor(patterned("rm -r a"))
		if shown, _ := o.posted(1); strings.Contains(plain(shown.Text), "pattern") {
			t.Errorf("with nothing before it says %s", plain(shown.Text))
		}
		id := o.askFor(patterned("rm -r b"))
		shown, at := o.posted(2)
		if text := plain(shown.Text); !strings.Contains(text,
			"\npattern: rm -r * would have covered 2 of the last 2 requests of this user that were asked about") {
			t.Errorf("it says %s", text)
		}
		token := tokenOf(t, shown, label)
		if told := o.clickOn("ana", token, at); told != "You approved "+id+"." {
			t.Errorf("ana is told %q", told)
		}
		if g := o.book.Grants(); len(g) != 1 || g[0].Match != "rm -r *" || g[0].Scope != want {
			t.Errorf("granted is %+v", g)
		}
		if !o.book.Covered(patterned("rm -r c")) || o.state(first) != bailiff.ApprovalPending {
			t.Errorf("it covers another request: %v; the first is %s", o.book.Covered(patterned("rm -r c")), o.state(first))
		}
	}
}

func TestWhatIsOfferedIsNeverCutOff(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	e := api.Entry{ID: "a-1", State: bailiff.ApprovalPending, Message: long, Reasons: []bailiff.Reason{{Rule: long, Message: long}},
		Request: bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: long, Workdir: long}},
		Plan:    api.Plan{Approvers: []string{long}}, Answered: []api.Answered{{Person: long}, {Person: long}, {Person: long}}}
	o := offer{Answers: []option{{}}, Pattern: &api.Preview{Match: strings.Repeat("y", longestLine)}}
	for range 4 {
		o.Listed = append(o.Listed, alsoListed{Text: strings.Repeat("z", listedRunes/4)})
	}
	text := plain(notice(e, "", o).Text)
	if end := strings.LastIndex(text, "z"); end < 0 || len([]rune(text[:end])) > noticeRunes {
		t.Errorf("what is offered ends at %d", end)
	}
}
