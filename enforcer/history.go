package enforcer

import (
	"context"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/past"
)

// recalls says whether it is looked at, in a sandbox, which of the files that a request runs were filled before. On the host
// all of them are read.
func (e *Enforcer) recalls(m *judged) bool {
	return len(m.Loads) > 0 && m.needsSandbox() && m.Decision.Outcome == bailiff.Allow && !e.runsOnHost(m) &&
		e.config.History.Of(m.located).HasFiles()
}

// recall judges a request by the content of the files that it runs. Of one that has none its path is known.
func (e *Enforcer) recall(ctx context.Context, m *judged) {
	if !e.recalls(m) {
		return
	}
	files := []bailiff.File{}
	for _, path := range m.Loads {
		if one, err := m.held.Digest(ctx, m.located.Args.Workdir, []string{path}); err == nil {
			files = append(files, one...)
		}
	}
	e.rejudge(ctx, m, files)
}

// noteYoung looks where a request is to unpack what its session brought.
func (e *Enforcer) noteYoung(ctx context.Context, m *judged) {
	if len(m.Origins) > 0 && m.held != nil && !m.located.Args.Background {
		m.young = past.YoungIn(ctx, m.held, m.located.Args.Workdir, m.Origins, e.config.History.Of(m.located))
	}
}

func (e *Enforcer) filler(m *judged) past.Filler {
	return past.Filler{Folder: m.located.Args.Workdir, Before: e.config.History.Of(m.located), Young: m.young}
}

// remember adds what became of a request to the history of its session. Files that a command fills in the background are known by
// their paths, as they may have no content yet.
func (e *Enforcer) remember(ctx context.Context, m *judged, a answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), surveyTime)
	defer cancel()
	did := past.DeedOf(m.located, m.Judgement)
	if m.approval != nil && m.approval.State == bailiff.ApprovalApproved {
		did.ApprovedBy = m.approval.By
	}
	did.Denied = did.Denied || m.approval != nil && m.approval.State == bailiff.ApprovalDenied
	if did.Ran = a.started; did.Ran {
		f := e.filler(m)
		if m.held != nil && !m.located.Args.Background {
			f.In = m.held
		}
		did.Done(m.Judgement, f.FilesOf(ctx, m.Origins))
		did.Forwarded, did.RunMillis = m.Decision.Env.Forward, a.Duration.Milliseconds()
		if a.Egress != nil {
			did.Reached = a.Egress.SentTo
		}
	}
	e.config.History.Add(m.located, did)
}

// rememberForClient adds what a client does that runs a request itself, as far as the decision lets it.
func (e *Enforcer) rememberForClient(ctx context.Context, m *judged, d bailiff.Decision) {
	did := past.DeedOf(m.located, m.Judgement)
	if did.Ran = d.Outcome == bailiff.Allow; d.Outcome != bailiff.Deny {
		did.Done(m.Judgement, e.filler(m).FilesOf(ctx, m.Origins))
	}
	e.config.History.Add(m.located, did)
}
