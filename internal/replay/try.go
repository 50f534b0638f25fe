package replay

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// finding is what came of one line.
type finding struct {
	line
	// skip is why it was not judged; then nothing else is set.
	skip string
	time time.Time
	verdict
}

// verdict is what two sets of policies say of one request.
type verdict struct {
	Was, Now bailiff.Decision
	// Differences is empty where they say the same.
	Differences []api.Difference
	id          string
	asked       api.LineInput
}

// try judges one line anew.
func (t Trial) try(ctx context.Context, l line) finding {
	e, skip := parse(l.text)
	was := past{ID: e.DecisionID, Time: e.Timestamp, Input: e.Input}
	if skip == "" && t.Against == nil {
		was.Result, skip = resultOf(e)
	}
	l.text = nil
	if skip != "" {
		return finding{line: l, skip: skip}
	}
	v, err := t.compare(ctx, was)
	if err != nil {
		return finding{line: l, skip: skippedUnreadable}
	}
	return finding{line: l, time: was.Time, verdict: v}
}

// compare says what other policies make of one past decision. An error says that its input document is
// none that could be judged.
func (t Trial) compare(ctx context.Context, p past) (verdict, error) {
	v := verdict{Was: p.Result, id: p.ID}
	if err := json.Unmarshal(p.Input, &v.asked); err != nil {
		return v, err
	}
	var err error
	if v.Now, err = t.Policies.Rejudge(ctx, p.Input); err != nil {
		return v, err
	}
	v.Now = t.Floor(request(v.asked), v.Now)
	if t.Against != nil {
		if v.Was, err = t.Against.Rejudge(ctx, p.Input); err != nil {
			return v, err
		}
		v.Was = t.Floor(request(v.asked), v.Was)
	}
	v.Differences = differences(v.Was, v.Now, v.asked.Backend.Available)
	return v, nil
}
