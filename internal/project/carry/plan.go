package carry

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

const (
	// mostNew is how many refs one command may make.
	mostNew = 1000
	// keptDays is how long a value stays that a ref no longer has.
	keptDays = 14
	keptRefs = "refs/bailiff/kept/"
)

// move is what becomes of one ref of the user's.
type move struct {
	name string
	// old and fresh are its values before and after; empty where there is none.
	old, fresh string
	// keep says that the old value would be reachable by no name.
	keep bool
}

// plan is what one step out does.
type plan struct {
	moves []move
	// head is what HEAD becomes; empty if it stays.
	head string
	// drops are positions in the user's stash, the last first; stores are entries, the oldest first.
	drops  []int
	stores []repository.Entry
	// notes are the files of a merge, nil for those that go.
	notes map[string]*string
	// entries are those of the index; isIndex says that the index belongs to what HEAD is after the step.
	entries []repository.Change
	isIndex bool
	// waits is the branch on which the user stands, where it changed inside and the index cannot come with it yet; else empty.
	waits string

	told []string
}

func (p plan) isEmpty() bool {
	return len(p.moves) == 0 && p.head == "" && len(p.drops)+len(p.stores) == 0 && len(p.notes) == 0 && len(p.entries) == 0
}

// sides are what a plan is made of: the real state and the private one, as they are now.
type sides struct {
	r, p   repository.State
	ri, pi repository.Index
	// elsewhere are the branches that other working folders of the repository stand on.
	elsewhere map[string]bool
	// refused are refs with the reason why git does not take their commits; "index" and "stash" stand for theirs.
	refused map[string]string
	// protection is nil where nothing is protected; barred are the entries of the index that may not come to their places.
	protection Protection
	barred     map[string]bool
	// forward says whether a branch of the user's only goes forward from one commit to another.
	forward func(old, fresh string) bool
}

// planOf compares both sides with what they had.
func (l *Link) planOf(s sides) (p plan) {
	for _, name := range slices.Sorted(maps.Keys(union(s.p.Refs, l.base.Private.Refs))) {
		switch {
		case s.p.Refs[name] == l.base.Private.Refs[name]:
		case name == s.r.Branch() && (s.p.Unfinished != "" || s.p.IsLocked):
			p.waits = name // alone, the user's next commit would undo it
		default:
			l.planRef(s, &p, name)
		}
	}
	l.planStash(s, &p)
	if s.p.Unfinished != "" {
		p.told = append(p.told, fmt.Sprintf("A %s is going on inside. Your HEAD stays at %s; ask the agent to finish or abort it.",
			s.p.Unfinished, brief(s.r)))
		return p
	}
	if !s.p.IsLocked {
		l.planHead(s, &p)
	}
	return p
}

func brief(s repository.State) string {
	if branch := s.Branch(); branch != "" {
		return strings.TrimPrefix(branch, "refs/heads/")
	}
	return s.Head[:min(8, len(s.Head))]
}

// planRef says what becomes of a ref that changed inside.
func (l *Link) planRef(s sides, p *plan, name string) {
	fresh, was, now := s.p.Refs[name], l.base.Real.Refs[name], s.r.Refs[name]
	isTag := strings.HasPrefix(name, "refs/tags/")
	_, short, _ := strings.Cut(strings.TrimPrefix(name, "refs/"), "/")
	switch {
	case fresh == now || !isTag && !strings.HasPrefix(name, "refs/heads/"):
		return
	case s.refused[name] != "":
		p.told = append(p.told, fmt.Sprintf("%s stays inside: %s.", short, s.refused[name]))
		return
	case isTag && l.base.Private.Refs[name] != "":
		p.told = append(p.told, fmt.Sprintf("The tag %s was moved or deleted inside; yours stays.", short))
		return
	case fresh == "" && now != was:
		return // deleted inside, and moved by the user
	case fresh != "" && now == "" && faultOfName(name, s.r.Refs) != "":
		p.told = append(p.told, fmt.Sprintf("%s stays inside: %s.", cleanLine(short), faultOfName(name, s.r.Refs)))
		return
	case now != was || s.elsewhere[name]:
		l.planConflict(s, p, name, fresh, isTag)
		return
	}
	if now == "" && len(p.moves) >= mostNew {
		p.told = append(p.told, fmt.Sprintf("%s stays inside: a command may make %d refs.", short, mostNew))
		return
	}
	m := move{name: name, old: now, fresh: fresh}
	if now != "" && (fresh == "" || !s.forward(now, fresh)) {
		m.keep = true
		what := "was moved back or rewritten"
		if fresh == "" {
			what = "was deleted"
		}
		p.told = append(p.told, fmt.Sprintf("%s %s; its old value is kept for %d days at %s.", short, what, keptDays, keptRefs))
	}
	p.moves = append(p.moves, m)
}

// planConflict puts commits of the agent's beside a branch that is the user's.
func (l *Link) planConflict(s sides, p *plan, name, fresh string, isTag bool) {
	now := s.r.Refs[name]
	if fresh == "" || isTag || now != "" && s.forward(fresh, now) {
		return // nothing to keep, or the user has it already
	}
	short := strings.TrimPrefix(name, "refs/heads/")
	beside := "refs/heads/bailiff/" + short + "-" + fresh[:8]
	why := "changed outside as well"
	if s.elsewhere[name] {
		why = "is what another working folder stands on"
	}
	p.told = append(p.told, fmt.Sprintf("%s %s: yours stays, and what was committed here is on the branch %s.", short, why,
		strings.TrimPrefix(beside, "refs/heads/")))
	if s.r.Refs[beside] == "" {
		p.moves = append(p.moves, move{name: beside, fresh: fresh})
	}
}

var plainName = regexp.MustCompile(`^[\pL\pN][\pL\pM\pN._/+@=#,-]*$`)

// faultOfName says why a ref may not be made; empty if it may.
func faultOfName(name string, has map[string]string) string {
	_, short, _ := strings.Cut(strings.TrimPrefix(name, "refs/"), "/")
	if !repository.IsName(name) || !plainName.MatchString(short) || len(name) > 250 {
		return "its name has characters that are not brought out"
	}
	if misleads(short, has) {
		return "git takes that name for something else of yours"
	}
	for other := range has {
		switch {
		case strings.HasPrefix(other, name+"/"), strings.HasPrefix(name, other+"/"):
			return "its name does not go together with that of " + other
		case other != name && strings.EqualFold(other, name):
			return "its name differs from that of " + other + " by case alone"
		}
	}
	return ""
}

var (
	ownName = regexp.MustCompile(`^(([A-Z_]*_)?HEAD|stash|(refs|heads|tags|remotes|notes|bisect|worktree|main-worktree)/.*)$`)
	hexName = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
)

// misleads says whether git would find a new branch or tag by a word by which its user means another thing: as gitrevisions(7) says,
// a tag counts before a branch, a branch before that of a remote, and each before a shortened hash.
func misleads(short string, has map[string]string) bool {
	if ownName.MatchString(short) || hexName.MatchString(short) && strings.ContainsAny(short, "abcdef") {
		return true
	}
	for _, place := range []string{"refs/", "refs/tags/", "refs/heads/", "refs/remotes/"} {
		if has[place+short] != "" {
			return true
		}
	}
	return has["refs/remotes/"+short+"/HEAD"] != ""
}

// planStash repeats what was stashed and dropped inside.
func (l *Link) planStash(s sides, p *plan) {
	added, dropped := differ(l.base.Private.Stash, s.p.Stash)
	if len(added) > 0 && s.refused["stash"] != "" {
		p.told = append(p.told, fmt.Sprintf("What was stashed stays inside: %s.", s.refused["stash"]))
		added = nil
	}
	has := map[string]bool{}
	for i, e := range slices.Backward(s.r.Stash) {
		has[e.Hash] = true
		if dropped[e.Hash] {
			p.drops = append(p.drops, i)
			p.moves = append(p.moves, move{name: "refs/stash", old: e.Hash, fresh: e.Hash, keep: true})
		}
	}
	for _, e := range slices.Backward(added) {
		if !has[e.Hash] {
			p.stores = append(p.stores, repository.Entry{Hash: e.Hash, Message: cleanLine(e.Message)})
		}
	}
}

// cleanLine is a text with what could do harm on a terminal or in a log of git's left out.
func cleanLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), 300)]
}

// planHead moves HEAD, the notes on a merge and the index, if the user has not moved HEAD.
func (l *Link) planHead(s sides, p *plan) {
	b := l.base
	head, branch := s.r.Head, s.p.Branch()
	if s.p.Head != b.Private.Head && s.p.Head != s.r.Head {
		switch {
		case s.r.Head != b.Real.Head:
			p.told = append(p.told, fmt.Sprintf("HEAD was moved on both sides: yours stays at %s.", brief(s.r)))
		case branch != "" && s.elsewhere[branch]:
			p.told = append(p.told, fmt.Sprintf("HEAD stays: another working folder stands on %s.", brief(s.p)))
		case branch != "" && !strings.HasPrefix(branch, "refs/heads/"), s.refused["HEAD"] != "":
			p.told = append(p.told, "HEAD stays: where it stands inside was not brought out.")
		default:
			p.head, head = s.p.Head, s.p.Head
		}
	}
	if p.head != "" && branch != "" && valueAfter(*p, s.r, branch) != s.p.Refs[branch] {
		p.head, head = "", s.r.Head
	}
	after := repository.State{Head: head, Refs: s.r.Refs}
	commit := after.Commit()
	if at := after.Branch(); at != "" {
		commit = valueAfter(*p, s.r, at)
	}
	if p.isIndex = head == s.p.Head && commit == s.p.Commit(); !p.isIndex {
		return
	}
	l.planNotes(s, p)
}

// valueAfter is that of a ref once the moves of a plan are made.
func valueAfter(p plan, r repository.State, name string) string {
	for _, m := range p.moves {
		if m.name == name {
			return m.fresh
		}
	}
	return r.Refs[name]
}

// planNotes brings out how a merge stands.
func (l *Link) planNotes(s sides, p *plan) {
	for _, name := range repository.Notes {
		now, is := s.p.Notes[name]
		was, had := l.base.Private.Notes[name]
		if is == had && now == was {
			continue
		}
		if text, has := s.r.Notes[name]; has == is && text == now {
			continue
		}
		if p.notes == nil {
			p.notes = map[string]*string{}
		}
		if !is {
			p.notes[name] = nil
		} else if isNote(now) && (!strings.HasSuffix(name, "_HEAD") || l.areHashes(now) && s.refused["merge"] == "") {
			p.notes[name] = &now
		}
	}
}

// areHashes says whether each line is a hash.
func (l *Link) areHashes(text string) bool {
	for line := range strings.Lines(text) {
		if !repository.IsHash(strings.TrimSuffix(line, "\n"), l.Place.Hash) {
			return false
		}
	}
	return text != ""
}

// isNote says whether a text has no characters that a terminal obeys.
func isNote(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || r == unicode.ReplacementChar
	})
}

// planIndex takes those entries that changed inside and not outside.
func (l *Link) planIndex(s sides, p *plan, realBase, privateBase repository.Index) {
	changes := s.pi.Changes(privateBase)
	if len(changes) == 0 || !p.isIndex {
		return
	}
	if s.refused["index"] != "" {
		p.told = append(p.told, fmt.Sprintf("The index stays inside: %s.", s.refused["index"]))
		return
	}
	paths := map[string]bool{}
	for _, c := range changes {
		paths[c.Path()] = true
	}
	now, was := s.ri.Select(paths), realBase.Select(paths)
	repositories := s.ri.Repositories()
	refused := map[string]bool{}
	for _, c := range changes {
		path := c.Path()
		switch {
		case refused[path]:
		case c.Is != nil && (c.Is.IsAnnounced || !repository.IsPlainPath(path)):
		case c.Is != nil && c.Is.Mode == repository.ModeRepository && !repositories[path]:
			p.told = append(p.told, fmt.Sprintf("%s stays inside: it adds a repository within the project.", cleanLine(path)))
			refused[path] = true
		case c.Is != nil && s.barred[path]:
			p.told = append(p.told, fmt.Sprintf("%s is staged inside alone: programs of yours start by it, and no person agreed "+
				"to its content.", cleanLine(path)))
			refused[path] = true
		case !sameEntries(now[path], was[path]):
			if !sameEntries(now[path], s.pi.Select(map[string]bool{path: true})[path]) {
				p.told = append(p.told, fmt.Sprintf("%s was staged on both sides: yours stays.", cleanLine(path)))
			}
			refused[path] = true
		default:
			p.entries = append(p.entries, c)
		}
	}
}

func sameEntries(a, b []repository.IndexEntry) bool {
	return slices.EqualFunc(a, b, func(a, b repository.IndexEntry) bool {
		return a.Stage == b.Stage && a.Mode == b.Mode && a.Hash == b.Hash
	})
}

// expired are the kept values whose time is over.
func expired(refs map[string]string, now time.Time) (all []move) {
	for name, value := range refs {
		rest, ok := strings.CutPrefix(name, keptRefs)
		if !ok {
			continue
		}
		at, _, _ := strings.Cut(rest, "/")
		if t, err := time.Parse(stampFormat, at); err == nil && now.Sub(t) > keptDays*24*time.Hour {
			all = append(all, move{name: name, old: value})
		}
	}
	return all
}
