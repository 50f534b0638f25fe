package console

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// plainly makes a claim one of a plain text for which patterns are offered.
func plainly(c *bailiff.Claim) {
	c.Plain, c.Files, c.Call = true, nil, strings.Fields(c.Request.Args.Command)
	c.Decision.Approval.Patterns = true
}

func TestAPatternIsPreviewedBeforeTheYes(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("rm -r out", plainly))
	o.way.timeout *= 2 // the first is shown first
	id := o.ask(t, claim("rm -r build", plainly))
	b := o.login(t, "ana")
	b.await(`document.querySelectorAll('#pending .row').length === 2`)
	b.click(`#pending .row[data-id="` + id + `"]`)
	b.awaitText("#detail", "The pattern rm -r * would have covered 2 of the last 2 requests")
	b.click(`[data-act="pattern"]`)
	b.awaitText("#confirm", "It would have covered 2 of the last 2 requests of this user")
	is[string](b, `document.querySelector("#confirm input[name=match]").value = "rm * *"`)
	b.click("#confirm-yes")
	b.awaitText("#confirm-error", "does not stand for")
	if e := o.entry(t, id); e.State != bailiff.ApprovalPending {
		t.Fatalf("it is %s by a pattern that is none", e.State)
	}
	is[string](b, `document.querySelector("#confirm input[name=match]").value = "rm -r *"`)
	b.click("#confirm-yes")
	b.awaitText("#confirm-error", "confirm again")
	if e := o.entry(t, id); e.State != bailiff.ApprovalPending {
		t.Fatalf("it is %s by a pattern that was not previewed", e.State)
	}
	b.click(`#confirm input[value=always]`)
	b.click("#confirm-yes")
	b.awaitToast("Approved")
	if g := o.book.Grants(); len(g) != 1 || g[0].Match != "rm -r *" || g[0].Scope != bailiff.ScopeAlways {
		t.Errorf("granted is %+v", g)
	}
	b.click("#tab-grants")
	b.awaitText("#grants", "pattern rm -r *, until the policies change")
}

func TestOneYesIsForAllThatWaitsAlike(t *testing.T) {
	o := serve(t)
	var ids []string
	for _, command := range []string{"rm -r a", "rm -r b"} {
		ids = append(ids, o.ask(t, claim(command)))
	}
	unlike := o.ask(t, claim("rm -r c", func(c *bailiff.Claim) { c.Decision.Backend.Network = "full" }))
	b := o.login(t, "ana")
	b.await(`document.querySelectorAll('#pending .row').length === 3`)
	b.click(`#pending .row[data-id="` + ids[0] + `"]`)
	b.awaitText(`[data-act="listed"]`, "Approve all 2 alike")
	b.click(`[data-act="listed"]`)
	b.awaitText("#confirm", "rm -r a")
	b.awaitText("#confirm", "rm -r b")
	late := o.ask(t, claim("rm -r d"))
	b.click("#confirm-yes")
	b.awaitToast("Approved 2 of 2")
	for _, id := range ids {
		if e := o.entry(t, id); e.State != bailiff.ApprovalApproved || e.Scope != bailiff.ScopeOnce {
			t.Errorf("%s is %s %s", id, e.State, e.Scope)
		}
	}
	for _, id := range []string{unlike, late} {
		if e := o.entry(t, id); e.State != bailiff.ApprovalPending {
			t.Errorf("%s, which was not listed, is %s", id, e.State)
		}
	}
}
