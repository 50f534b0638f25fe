package replay

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// finding is what came of one line.
type finding struct {
	audit.Place
	// skip is why it was not judged; then nothing else is set.
	skip string
	time time.Time
	verdict
}

// verdict is what two sets of policies say of one request.
type verdict struct {
	Was, Now judgement
	// Differences is empty where they say the same.
	Differences []api.Difference
	id          string
	asked       api.LineInput
	about       string // the beginning of what was asked
}

// try judges one line anew.
func (t Trial) try(ctx context.Context, at audit.Place, text []byte) finding {
	e, skip := parse(text)
	was := past{ID: e.DecisionID, Time: e.Timestamp, Input: e.Input, Connection: isConnection(e)}
	if skip == "" && t.Against == nil {
		was.Result, skip = resultOf(e)
	}
	if skip != skippedUnreadable && e.Timestamp.Before(t.Since) {
		skip = skippedEarlier
	}
	if skip != "" {
		return finding{Place: at, skip: skip}
	}
	v, err := t.compare(ctx, was)
	if err != nil {
		return finding{Place: at, skip: skippedUnreadable}
	}
	return finding{Place: at, time: was.Time, verdict: v}
}

// compare says what other policies make of one past decision. An error says that its input document is
// none that could be judged.
func (t Trial) compare(ctx context.Context, p past) (verdict, error) {
	v := verdict{Was: p.Result, id: p.ID}
	if err := json.Unmarshal(p.Input, &v.asked); err != nil {
		return v, err
	}
	v.about = bailiff.Beginning(v.asked.Args.Text(), maxText)
	if p.Connection {
		v.about = bailiff.Beginning(destinationOf(p.Input), maxText)
	}
	var err error
	if v.Now, err = t.rejudge(ctx, t.Policies, p, v.asked); err != nil {
		return v, err
	}
	if t.Against != nil {
		if v.Was, err = t.rejudge(ctx, t.Against, p, v.asked); err != nil {
			return v, err
		}
	}
	v.Differences = v.differences()
	return v, nil
}

// rejudge has policies judge, with the floor under what they decide.
func (t Trial) rejudge(ctx context.Context, policies Judge, p past, asked api.LineInput) (judgement, error) {
	if p.Connection {
		j, err := policies.RejudgeConnection(ctx, p.Input)
		return ofConnection(j), err
	}
	d, err := policies.Rejudge(ctx, p.Input)
	if err == nil {
		d = t.Floor(request(asked), d)
	}
	return judgement{Decision: d}, err
}

// differences are those of the decisions and, where a connection is let through, of how.
func (v verdict) differences() []api.Difference {
	all := differences(v.Was.Decision, v.Now.Decision, v.asked.Backend.Available)
	if v.Was.Outcome == bailiff.Deny || v.Now.Outcome == bailiff.Deny || v.Was.connection == v.Now.connection {
		return all
	}
	was, now := facets{}, facets{}
	was.add("connection", v.Was.connection)
	now.add("connection", v.Now.connection)
	return append(all, facetDifferences(was, now, nil)...)
}
