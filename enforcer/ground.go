package enforcer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// maxSurveys is how often the text of files may tell more paths.
const maxSurveys = 2

// surveyTime is how long the file system may take to tell what paths lead to. One that hangs tells nothing.
const surveyTime = 3 * time.Second

// surveys says whether it is looked for what a request's paths lead to: where nothing keeps them inside of a
// sandbox. A question is about the working folder, too.
func (e *Enforcer) surveys(m *judged) bool {
	return (m.needsSandbox() || m.isTyped()) && (len(m.Paths) > 0 || m.Decision.Outcome == bailiff.Ask) && e.runsOnHost(m)
}

// isTyped says that the request hands input to a process that is there.
func (p placed) isTyped() bool { return p.process != nil && p.located.Args.IsTyped() }

// lease is where the request runs, or where the process lives that it is for.
func (m *judged) lease() *lease.Lease {
	if m.held == nil {
		return m.process.Lease()
	}
	return m.held.Lease()
}

// survey judges a request by what the paths that its text names lead to, besides their own names.
func (e *Enforcer) survey(ctx context.Context, m *judged) error {
	for range maxSurveys {
		more := slices.DeleteFunc(slices.Clone(m.Paths), func(p string) bool { return slices.Contains(m.surveyed, p) })
		if !e.surveys(m) || m.looked && len(more) == 0 {
			return nil
		}
		m.surveyed, m.looked = append(m.surveyed, more...), true
		seen, err := m.resolve(ctx, more)
		if err != nil {
			return fmt.Errorf("%w: looking at the paths of the command: %w", errFiles, err)
		}
		if !extend(&m.ground, seen) {
			return nil
		}
		m.replaceJudgement(e.decide(ctx, m.located, found{nil, m.contents, m.ground}))
	}
	if e.surveys(m) && slices.ContainsFunc(m.Paths, func(p string) bool { return !slices.Contains(m.surveyed, p) }) && !m.ground.Unseen {
		m.ground.Unseen = true
		m.replaceJudgement(e.decide(ctx, m.located, found{nil, m.contents, m.ground}))
	}
	return nil
}

// resolve finds what paths lead to in the sandbox of a request.
func (m *judged) resolve(ctx context.Context, paths []string) (bailiff.Ground, error) {
	soon, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	seen, err := m.lease().Resolve(soon, m.located.Args.Workdir, paths)
	switch {
	case ctx.Err() != nil:
		return seen, ctx.Err()
	case errors.Is(err, errors.ErrUnsupported):
		return seen, err
	case err != nil:
		return bailiff.Ground{Unseen: true}, nil
	}
	seen.Unseen = seen.Unseen || !m.AllPaths
	return seen, nil
}

// extend adds to a ground what was seen besides, and says whether it means more for the text.
func extend(g *bailiff.Ground, seen bailiff.Ground) (more bool) {
	g.Folder = seen.Folder
	if seen.Unseen && !g.Unseen {
		g.Unseen, more = true, true
	}
	for _, l := range seen.Links {
		switch at := slices.IndexFunc(g.Links, func(known bailiff.Link) bool { return known.Path == l.Path }); {
		case at < 0:
			g.Links, more = append(g.Links, l), true
		case !slices.Equal(g.Links[at].Targets, l.Targets) && !g.Unseen: // it changes while it is looked at
			g.Unseen, more = true, true
		}
	}
	slices.SortFunc(g.Links, func(a, b bailiff.Link) int { return strings.Compare(a.Path, b.Path) })
	return more
}
