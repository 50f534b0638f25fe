package console

import (
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestApproveInTwoClicks(t *testing.T) {
	o := serve(t)
	id := o.ask(t, claim("rm -rf ./build && make"))
	b := o.login(t, "ana")
	b.awaitText("#detail", "rm -rf ./build && make")
	b.click(`[data-act="once"]`)
	b.click("#confirm-yes")
	b.awaitText("#toasts", "Approved")
	e := o.entry(t, id)
	if v := e.Votes[0]; e.State != bailiff.ApprovalApproved || e.Scope != "once" || v.Person != "ana" || v.Channel != "console" || v.Credential != "uid:1000" {
		t.Errorf("%s %s, %+v", e.State, e.Scope, e.Votes)
	}
	b.await(`document.title === 'bailiff console' && !document.querySelector('#none-pending').hidden`)
}
