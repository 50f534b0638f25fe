package enforcer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// surveyTime is how long the file system may take to tell what paths lead to. One that hangs tells nothing.
const surveyTime = 3 * time.Second

// lease is where the request runs, or where the process lives that it is for.
func (m *judged) lease() *lease.Lease {
	if m.held == nil {
		return m.process.Lease()
	}
	return m.held.Lease()
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
