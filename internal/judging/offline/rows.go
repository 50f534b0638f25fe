package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/replay"
	"github.com/bailiff-dev/bailiff/internal/judging/rows"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// RowJudge judges rows of text by policies, with the floor under them. Of a row's backend is
// asked as if nothing else was configured.
type RowJudge struct {
	policies *pdp.PDP
	floor    replay.Floor
	backends map[string]bailiff.BackendState
	workdir  string
	began    time.Time
}

// rowTimeout is how long a row may take: what is said of it is no matter of how busy the machine is.
const rowTimeout = 10 * time.Second

// JudgeRows judges rows by policies at paths, which need no tests, or by those of the configuration. Undo says that a snapshot could be
// taken of the folders that sandboxes show.
func JudgeRows(ctx context.Context, cfg *config.Config, paths []string, undo bool) (*RowJudge, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("finding the home folder, in which rows are judged: %w", err)
	}
	j := &RowJudge{floor: Floor(cfg), workdir: filepath.Join(home, "project"), began: time.Now(),
		backends: map[string]bailiff.BackendState{}}
	for name, maker := range catalogue.All() {
		isolated := maker().Isolated()
		j.backends[name] = bailiff.BackendState{Isolated: isolated, Ready: true, Undo: undo && isolated}
	}
	for name, section := range cfg.Backends {
		j.backends[name] = bailiff.BackendState{Isolated: section.Isolated(), Ready: true, Undo: undo && section.Isolated()}
	}
	if len(paths) > 0 {
		j.policies, err = pdp.Try(ctx, pdp.Config{Paths: paths, Home: home, EvalTimeout: rowTimeout})
		return j, err
	}
	cfg.Policies.EvalTimeout = rowTimeout
	j.policies, err = OpenPolicies(ctx, cfg)
	return j, err
}

// Check refuses rows of unknown backends, and relative folders.
func (j *RowJudge) Check(row rows.Row) error {
	if _, known := j.backends[row.Backend]; row.Backend != "" && !known {
		return fmt.Errorf("backend is %q: %s", row.Backend, spelling.Unknown("backend", row.Backend, slices.Collect(maps.Keys(j.backends))))
	}
	if row.Workdir != "" && !filepath.IsAbs(row.Workdir) {
		return errors.New("workdir is no absolute path")
	}
	return nil
}

// Judge judges a row.
func (j *RowJudge) Judge(ctx context.Context, row rows.Row) rows.Verdict {
	req := j.request(row)
	judged := j.decide(ctx, req, &bailiff.SessionHistory{Complete: true}, nil)
	if row.IsRecorded() {
		judged = j.replay(ctx, row)
	}
	d := j.floor(req, judged.Decision)
	v := rows.Verdict{Outcome: d.Outcome, Rules: []string{}, Revision: d.Revision, Fault: judged.Fault, Unparsed: isUnparsed(judged.Input)}
	for _, reason := range d.Reasons() {
		if !slices.Contains(v.Rules, reason.Rule) {
			v.Rules = append(v.Rules, reason.Rule)
		}
	}
	isOther := func(rule string) bool { return !isOfSight(rule) }
	if !j.backends[req.Backend].Isolated && d.Outcome != bailiff.Deny && !slices.ContainsFunc(v.Rules, isOther) {
		v.Sights = judged.Unknown
	}
	return v
}

// decide judges a request after a history, by the files that it runs.
func (j *RowJudge) decide(ctx context.Context, req bailiff.Request, before *bailiff.SessionHistory,
	files []bailiff.File) bailiff.Judgement {
	return j.policies.Decide(ctx, req, bailiff.Circumstances{Time: j.began, History: before, Files: files,
		Backends: map[string]bailiff.BackendState{req.Backend: j.backends[req.Backend]}})
}

// isOfSight says that a rule asks since no table knows a program.
func isOfSight(rule string) bool {
	return rule == bailiff.RunsUnknownProgram || rule == bailiff.CallsUnsoughtProgram
}

// isUnparsed says whether the reader of a text did not understand it.
func isUnparsed(input json.Marshaler) bool {
	type facts struct {
		Parsed *bool `json:"parsed"`
	}
	var document struct{ Command, Code facts }
	if input == nil {
		return true
	}
	text, err := input.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	isNo := func(f facts) bool { return f.Parsed != nil && !*f.Parsed }
	return err != nil || isNo(document.Command) || isNo(document.Code)
}

func (j *RowJudge) request(row rows.Row) bailiff.Request {
	req := bailiff.Request{Tool: row.Tool, Session: row.Session, Backend: row.Backend, Caller: caller}
	if req.Tool == bailiff.Terminal {
		req.Args.Command = row.Text
	} else {
		req.Args.Code = row.Text
	}
	for _, usual := range []struct {
		value *string
		is    string
	}{
		{&req.Backend, "local"}, {&req.Args.Workdir, j.workdir}, {&req.Session.ID, "row"}, {&req.Session.Platform, "cli"},
		{&req.Session.ChatType, "dm"}, {&req.Session.ChatID, "row"}, {&req.Session.UserID, "1"},
	} {
		if *usual.value == "" {
			*usual.value = usual.is
		}
	}
	if row.Workdir != "" {
		req.Args.Workdir = row.Workdir
	}
	return req
}
