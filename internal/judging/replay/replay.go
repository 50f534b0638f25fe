// Package replay judges past decisions anew and tells what would differ: whom
// other policies would deny, ask about or let run, and with which other variables,
// backend and limits.
//
// A decision is judged by the input document that the decision log has of it: the
// facts, the time and the backends of then. So what differs is the policies'
// doing, not that of another day. It is compared with what the log says was decided
// or, if there are older policies to compare with, with what these decide of the
// same document.
//
// Promised: every line of a log is either judged or counted among those that are
// not, by the reason. The order of the report is that of the log, however many
// lines are judged at once, and what is held in memory does not grow with the log.
// A difference that lets a request do more than before is told from one that lets
// it do less; where neither can be said it is neither.
//
// What was judged of connections out of sandboxes is judged anew in the same way, each
// connection and each request on it by itself, as it was spoken then.
//
// The same is done to decisions as they are made, by policies in the shadow of those
// in force: what they would decide otherwise is written down and counted, and nothing
// is enforced by them ([Shadow]).
//
// Not compared is what bailiff itself decided, whatever the policies say: that a
// guard or a freeze denied, that an approval was void, that an operator used
// break-glass. Nor is an image that was pinned, since the policies say no digest.
//
// Not here: how a document is judged (package pdp), and what no policy can lift
// (package enforcer): both are given by the caller.
package replay

import (
	"context"
	"errors"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// Judge judges by an input document as it was logged, in JSON. An error says that
// the policies could not.
type Judge interface {
	Rejudge(ctx context.Context, input []byte) (bailiff.Decision, error)
	RejudgeConnection(ctx context.Context, input []byte) (bailiff.ConnectionJudgement, error)
}

// Floor lays under a decision what no policy can lift.
type Floor func(req bailiff.Request, d bailiff.Decision) bailiff.Decision

// Trial is one set of policies on trial.
type Trial struct {
	Policies Judge
	// Against are those to compare with; nil means what was logged.
	Against Judge
	Floor   Floor
	// Since leaves out what was decided before.
	Since time.Time
}

// Run judges what the logs at the paths hold: files, folders of segments or state
// folders. That none of it could be judged is an error.
func (t Trial) Run(ctx context.Context, paths []string) (Report, error) {
	tally := newTally(t.Against != nil)
	err := audit.Map(ctx, paths, func(at audit.Place, text []byte) finding { return t.try(ctx, at, text) }, tally.addOne)
	if err == nil && tally.Judged == 0 {
		err = errors.New("none of the log could be judged: " + tally.skippedText())
	}
	return tally.report(), err
}
