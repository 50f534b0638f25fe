package console

import (
	"fmt"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// asksOften asks many questions of many users: each tenth is about a kill, the rest about folders.
func (o *office) asksOften(t *testing.T, n int) {
	t.Helper()
	var asking sync.WaitGroup
	for i := range n {
		c := claim(fmt.Sprintf("rm -r folder-%d", i), inSession(fmt.Sprint("s", i)), func(c *bailiff.Claim) {
			c.Request.Session.UserID = fmt.Sprint("user-", i)
			if i%10 == 0 {
				c.Request.Args.Command = fmt.Sprintf("kill -9 %d", i)
				reasons(bailiff.Reason{Rule: "command.kills", Message: "This kills."})(c)
			}
		})
		c.DecisionID = fmt.Sprint("d-", i)
		asking.Go(func() {
			if a, err := o.book.Ask(t.Context(), c); err != nil || a.State != bailiff.ApprovalPending {
				t.Errorf("asked: %+v, %v", a, err)
			}
		})
	}
	asking.Wait()
}

// pending is what waits.
func (o *office) pending() []api.Entry {
	all, _ := o.book.List(api.Query{State: bailiff.ApprovalPending, Limit: 1000})
	return all
}

func TestFiveHundredQuestionsAreFoundFilteredAndDeniedByTheirKind(t *testing.T) {
	o := serve(t)
	o.asksOften(t, 500)
	unlike := o.ask(t, claim("rm -r far", func(c *bailiff.Claim) { c.Decision.Backend.Network = "full" }))
	b := o.login(t, "ana")
	rows := func(n int) {
		t.Helper()
		b.await(fmt.Sprintf(`document.querySelectorAll('#pending .row').length === %d`, n))
	}
	find := func(words string) {
		is[bool](b, fmt.Sprintf(`(() => { const find = document.querySelector('#find-pending'); find.value = %q;
			return find.dispatchEvent(new Event('input')) })()`, words))
	}
	rows(3)
	b.awaitText("#count-approvals", "501")
	b.awaitText("#pending", "450 of a kind")
	b.awaitText("#pending", "50 of a kind")
	find("FOLDER-11")
	rows(10) // 11 and 111 to 119, each by itself, since they are few
	find("no question says this")
	b.awaitText("#none-pending", "Nothing that waits says that.")
	find("")
	rows(3)
	is[bool](b, `(() => { const only = document.querySelector('#only'); only.value = 'command.kills';
		return only.dispatchEvent(new Event('change')) })()`)
	rows(1)
	b.click("#pending .row")
	b.awaitText(`[data-act="deny-kind"]`, "Deny all 50 of this kind")
	if is[bool](b, `Boolean(document.querySelector('[data-act="listed"]'))`) {
		t.Error("one yes is offered for what several people ask")
	}
	b.click(`[data-fold="kind"] summary`)
	b.awaitText(`[data-fold="kind"]`, "kill -9")
	b.press("x")
	b.await(`document.querySelectorAll('#confirm .listed li').length === 50`)
	b.awaitText("#confirm", "user-490")
	b.press(kb.Escape)
	if n := len(o.pending()); n != 501 {
		t.Errorf("before the confirmation %d wait", n)
	}
	b.click(`[data-act="deny-kind"]`)
	b.await(`document.querySelector('#confirm').open && !document.querySelector('#confirm-yes.fresh')`)
	b.click("#confirm-yes")
	b.awaitToast("Denied 50 of 50")
	b.awaitText("#none-pending", "Nothing that waits says that.")
	for _, e := range o.pending() {
		if e.Reasons[0].Rule == "command.kills" {
			t.Errorf("%s waits still", e.ID)
		}
	}
	if e := o.entry(t, unlike); e.State != bailiff.ApprovalPending {
		t.Errorf("what is of another kind is %s", e.State)
	}
}
