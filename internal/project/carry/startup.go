package carry

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

// Protection knows by which files of a folder programs of its user start. What a command may not write there in the working folder
// it may not commit, stage or stash either: the user's next checkout would write it, and git itself runs hooks while it does.
type Protection interface {
	// IsPlace says whether a file of this name would be one of them, or a link there would lead to one.
	IsPlace(name string, isLink bool) bool
	// Holds is the content that such a file has, or the text of such a link, which no command may change.
	Holds(name string) (content []byte, ok bool)
}

const (
	// mostClaims is how many entries in such places one step may bring.
	mostClaims = 100
	// modeLink is the mode of an entry that is a link, as git writes it.
	modeLink = "120000"
	// maxHistory is how many bytes are read of what the user's commits have in such places.
	maxHistory = 64 << 20
)

// claim is an entry that is to come to a place by which programs start.
type claim struct{ path, mode, hash string }

// isClaim says whether the place of an entry is such a one.
func (s *sides) isClaim(l *Link, c claim) bool {
	return s.protection != nil && s.protection.IsPlace(path.Join(l.Place.Dir, c.path), c.mode == modeLink)
}

// claimOf adds an entry to claims if its place is such a one. More than are looked at are not gathered.
func (s *sides) claimOf(l *Link, all []claim, c claim) []claim {
	if len(all) > mostClaims || !s.isClaim(l, c) || slices.Contains(all, c) {
		return all
	}
	return append(all, c)
}

// unknown is a claim that the user does not have in that place. The zero value says that there is none.
func (q *quarantine) unknown(ctx context.Context, s *sides, claims []claim) (claim, error) {
	all, err := q.unknowns(ctx, s, claims)
	if len(all) == 0 {
		return claim{}, err
	}
	return all[0], err
}

// unknowns are the claims that the user does not have in their places: not in the folder, nor in the index, nor in a commit. Of
// more than are looked at all count as such.
func (q *quarantine) unknowns(ctx context.Context, s *sides, claims []claim) ([]claim, error) {
	staged := map[string]bool{}
	for _, c := range claims {
		staged[c.path] = true
	}
	index := s.ri.Select(staged)
	claims = slices.DeleteFunc(slices.Clone(claims), func(c claim) bool {
		content, ok := s.protection.Holds(path.Join(q.l.Place.Dir, c.path))
		return ok && q.l.isBlob(content, c.hash) ||
			slices.ContainsFunc(index[c.path], func(e repository.IndexEntry) bool { return e.Hash == c.hash })
	})
	if len(claims) == 0 || len(claims) > mostClaims {
		return claims, nil
	}
	known, err := q.history(ctx, s, claims)
	return slices.DeleteFunc(claims, func(c claim) bool { return known[c.path+"\x00"+c.hash] }), err
}

// isBlob says whether a hash is that of a content, with either end of lines.
func (l *Link) isBlob(content []byte, of string) bool {
	is := func(text []byte) bool { return repository.BlobHash(l.Place.Hash, text) == of }
	return is(content) || is(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")))
}

// history are the contents that the user's commits have, or had, at the paths of claims.
func (q *quarantine) history(ctx context.Context, s *sides, claims []claim) (map[string]bool, error) {
	if q.dir == "" {
		if err := q.begin(); err != nil {
			return nil, err
		}
	}
	var tips strings.Builder
	real := maps.Clone(s.r.Refs)
	real["HEAD"] = s.r.Commit()
	for name, value := range real {
		if value != "" && !strings.HasPrefix(name, keptRefs) {
			fmt.Fprintln(&tips, value)
		}
	}
	args := []string{"log", "--stdin", "--full-history", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "-z", "--format=", "--"}
	for _, c := range claims {
		args = append(args, c.path)
	}
	var said bytes.Buffer
	binds, list := q.l.alternates()
	err := q.l.run.Run(ctx, keeper.Job{Binds: append(binds, keeper.Bind{Source: q.dir, Target: "/job"}), Dir: "/job",
		Env:   []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + list, "GIT_LITERAL_PATHSPECS=1"},
		Stdin: strings.NewReader(tips.String()), Stdout: &said, MaxOutput: maxHistory, Args: keeper.GitArgs("/job/git", args...)})
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for entry := range strings.SplitSeq(said.String(), "\x00:") {
		about, name, _ := strings.Cut(strings.TrimPrefix(entry, ":"), "\x00")
		if words := strings.Fields(about); len(words) == 5 {
			known[strings.TrimSuffix(name, "\x00")+"\x00"+words[3]] = true
		}
	}
	return known, nil
}

// refuseEntries finds those entries of the index that may not come to their places.
func (q *quarantine) refuseEntries(ctx context.Context, s *sides, privateBase repository.Index) error {
	s.barred = map[string]bool{}
	if s.protection == nil || s.p.Unfinished != "" || s.p.IsLocked {
		return nil
	}
	var claims []claim
	for _, c := range s.pi.Changes(privateBase) {
		if c.Is == nil || c.Is.IsAnnounced {
			continue
		}
		if staged := (claim{c.Is.Path, fmt.Sprintf("%06o", c.Is.Mode), c.Is.Hash}); s.isClaim(q.l, staged) {
			claims = append(claims, staged)
		}
	}
	wrong, err := q.unknowns(ctx, s, claims)
	for _, c := range wrong {
		s.barred[c.path] = true
	}
	return err
}
