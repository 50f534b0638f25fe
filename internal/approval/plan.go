package approval

import (
	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// Router says by which way a claim goes to people and who may answer it. It is
// asked when a claim is put to people, whenever one of them says yes, before a
// grant is used, and when the book is told that both may have changed. It may be called concurrently.
type Router interface {
	// Plan's error of type *Unanswerable says that no approver could answer.
	Plan(c bailiff.Claim) (api.Plan, error)
	// May is nil if who may answer an approval of that claim that goes by that
	// route; its error says why not and who could, in one sentence. Groups are not
	// given for those who answered before.
	May(who bailiff.Approver, c bailiff.Claim, route string) error
}

// Unanswerable is the error of a plan that no approver could answer.
type Unanswerable = state.Unanswerable
