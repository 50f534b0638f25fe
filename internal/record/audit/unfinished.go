package audit

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

const (
	// unfinishedFor is how far back an earlier run's requests are looked for: longer
	// than commands run, and short enough to be read at every start.
	unfinishedFor = time.Hour
	// endedFor is how far back those are that ended, and whose callers may not have
	// got the answer.
	endedFor = 10 * time.Minute
)

// Unfinished is a request that was let run and whose caller may not know how that
// ended: its end was not recorded, or it ended not long ago.
type Unfinished struct {
	Caller, Session, RequestID, Digest string
	// At is when it was decided or, if it has, when it ended.
	At    time.Time
	Ended bool
}

// letsRun says whether the request of a decision ran from there on: the policies
// let it, or humans did. Where the outcome is masked, it may have.
func letsRun(l api.Line) bool {
	if l.Custom.Event != api.DecisionEvent {
		return false
	}
	isOutcome := func(path string) bool { return path == "/result" || path == "/result/outcome" }
	if slices.ContainsFunc(l.Erased, isOutcome) || slices.ContainsFunc(l.Masked, isOutcome) {
		return true
	}
	approval, outcome := l.Custom.Approval, l.ReadResult().Outcome
	granted := approval != nil && approval.State == bailiff.ApprovalApproved && outcome == bailiff.Ask.String()
	return granted || outcome == bailiff.Allow.String()
}

// ran says whether the request of an execution may have been started.
func ran(l api.Line) bool {
	switch l.Custom.Status {
	case bailiff.Completed, bailiff.TimedOut, bailiff.Interrupted, bailiff.Failed:
		return true
	}
	return false
}

// readUnfinished reads the segments that were written to at since or later.
func readUnfinished(stateDir string, since time.Time) ([]Unfinished, error) {
	names, _, err := segments(stateDir)
	if err != nil {
		return nil, err
	}
	open := map[string]Unfinished{}
	for _, name := range names {
		path := filepath.Join(decisionsDir(stateDir), name)
		if info, err := os.Stat(path); err == nil && info.ModTime().Before(since) {
			continue
		}
		if _, err := lines(path, 0, func(line []byte, _ int64) error { return track(open, line, since) }); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	return inOrder(open), nil
}

var requestKey = []byte(`"request_id":`)

// track opens and closes requests as a line tells.
func track(open map[string]Unfinished, line []byte, since time.Time) error {
	if !bytes.Contains(customOf(line), requestKey) {
		return nil
	}
	l, err := api.ReadLine(line)
	if err != nil {
		return err
	}
	switch {
	case l.Custom.Event == api.ExecutionEvent:
		u, known := open[l.DecisionID]
		delete(open, l.DecisionID)
		if known && ran(l) && l.Timestamp.After(since.Add(unfinishedFor-endedFor)) {
			u.At, u.Ended = l.Timestamp, true
			open[l.DecisionID] = u
		}
	case letsRun(l) && !l.Timestamp.Before(since):
		open[l.DecisionID] = Unfinished{l.RequestedBy, l.Custom.Session, l.Custom.RequestID, l.Custom.Digest, l.Timestamp, false}
	}
	return nil
}

func inOrder(open map[string]Unfinished) []Unfinished {
	return slices.SortedFunc(maps.Values(open), func(a, b Unfinished) int { return a.At.Compare(b.At) })
}
