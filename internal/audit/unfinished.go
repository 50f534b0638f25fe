package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
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
// ended: nobody recorded its end, or it ended not long ago.
type Unfinished struct {
	Caller, Session, RequestID, Digest string
	// At is when it was decided or, if it has, when it ended.
	At    time.Time
	Ended bool
}

// begun is what unfinished reads of a line.
type begun struct {
	DecisionID  string    `json:"decision_id"`
	Timestamp   time.Time `json:"timestamp"`
	RequestedBy string    `json:"requested_by"`
	Result      struct {
		Outcome string `json:"outcome"`
	} `json:"result"`
	Erased []string       `json:"erased"`
	Masked []string       `json:"masked"`
	Custom bailiff.Custom `json:"custom"`
}

// letsRun says whether the request of a decision ran from there on: the policies
// let it, or humans did. Where the outcome is masked, it may have.
func (b begun) letsRun() bool {
	for _, path := range append(b.Erased, b.Masked...) {
		if path == "/result" || path == "/result/outcome" {
			return b.Custom.Event == bailiff.DecisionEvent
		}
	}
	approval := b.Custom.Approval
	granted := approval != nil && approval.State == bailiff.ApprovalApproved && b.Result.Outcome == bailiff.Ask.String()
	return b.Custom.Event == bailiff.DecisionEvent && (granted || b.Result.Outcome == bailiff.Allow.String())
}

// ran says whether the request of an execution may have been started.
func (b begun) ran() bool {
	switch b.Custom.Status {
	case bailiff.Completed, bailiff.TimedOut, bailiff.Interrupted, bailiff.Failed:
		return true
	}
	return false
}

// unfinished reads the segments that were written to at since or later.
func unfinished(stateDir string, since time.Time) ([]Unfinished, error) {
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

var (
	requestKey = []byte(`"request_id":`)
	customKey  = []byte(`,"custom":{`)
)

// track opens and closes requests as a line tells.
func track(open map[string]Unfinished, line []byte, since time.Time) error {
	if custom := bytes.LastIndex(line, customKey); custom < 0 || !bytes.Contains(line[custom:], requestKey) {
		return nil
	}
	var b begun
	var masked *json.UnmarshalTypeError // all the rest is read
	if err := json.Unmarshal(line, &b); err != nil && !errors.As(err, &masked) {
		return err
	}
	switch {
	case b.Custom.Event == bailiff.ExecutionEvent:
		u, known := open[b.DecisionID]
		delete(open, b.DecisionID)
		if known && b.ran() && b.Timestamp.After(since.Add(unfinishedFor-endedFor)) {
			u.At, u.Ended = b.Timestamp, true
			open[b.DecisionID] = u
		}
	case b.letsRun() && !b.Timestamp.Before(since):
		open[b.DecisionID] = Unfinished{b.RequestedBy, b.Custom.Session, b.Custom.RequestID, b.Custom.Digest, b.Timestamp, false}
	}
	return nil
}

func inOrder(open map[string]Unfinished) []Unfinished {
	list := make([]Unfinished, 0, len(open))
	for _, u := range open {
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b Unfinished) int { return a.At.Compare(b.At) })
	return list
}
