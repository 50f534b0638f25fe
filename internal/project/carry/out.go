package carry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

const (
	// tries is how often a step out begins anew, since the user's git was faster.
	tries = 4
	// mostAlone is how many refs are looked at one by one, once git does not take all of them.
	mostAlone = 30
)

var (
	errMoved  = errors.New("the user's git was faster")
	errLocked = errors.New("your git holds the index")
)

// Out brings out what a command did, and tells what stays inside. Why is a line for git's logs; protection may be nil.
func (l *Link) Out(ctx context.Context, why string, protection Protection) (told []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fault := l.load()
	if fault != nil && !errors.As(fault, new(*damage)) {
		return nil, fault
	}
	real, inside, err := l.open()
	if err != nil {
		return nil, err
	}
	defer real.Close()
	defer inside.Close()
	if fault != nil {
		return l.renew(ctx, real, inside, fault)
	}
	if l.base.Pending == "" && inside.Look() == l.base.PrivateLook {
		return nil, nil
	}
	return l.out(ctx, real, inside, why, protection)
}

func (l *Link) out(ctx context.Context, real, inside repository.Dirs, why string, protection Protection) (told []string, err error) {
	look := inside.Look()
	s := sides{refused: map[string]string{}, protection: protection}
	if s.p, err = inside.State(l.Place.Hash); err == nil {
		s.pi, err = inside.Index(l.Place.Hash)
	}
	if err == nil {
		err = l.faultOf(s.p)
	}
	if err != nil {
		return l.renew(ctx, real, inside, err)
	}
	realBase, privateBase, err := l.indexes()
	if err != nil {
		return l.renew(ctx, real, inside, err)
	}
	var done plan
	for range tries {
		if done, err = l.tryOut(ctx, real, inside, &s, realBase, privateBase, why); !errors.Is(err, errMoved) {
			break
		}
	}
	if err != nil {
		return l.wait(err)
	}
	return done.told, l.remember(real, s, done, look)
}

// faultOf says why the state of a private directory is not one that git's commands lead to: git deletes no branch on
// which its user stands, so that a directory without it, or without any branch, was emptied or made anew.
func (l *Link) faultOf(p repository.State) error {
	isBranch := func(name string) bool { return strings.HasPrefix(name, "refs/heads/") }
	has := func(refs map[string]string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(refs)), isBranch)
	}
	switch branch := p.Branch(); {
	case has(l.base.Private.Refs) && !has(p.Refs):
		return errors.New("it has no branches any more")
	case branch != "" && l.base.Private.Refs[branch] != "" && p.Refs[branch] == "":
		return errors.New("the branch of its HEAD is gone")
	}
	return nil
}

// wait remembers that something stays inside until a later try, and says so once.
func (l *Link) wait(fault error) (told []string, err error) {
	said := "What git did here stays inside until it can be brought out: " + fault.Error() + "."
	if errors.Is(fault, errLocked) {
		said = "Your git holds the index; brought out as soon as it is free."
	}
	if l.base.Pending != said {
		told = []string{said}
	}
	l.base.Pending = said
	return told, l.save()
}

// tryOut makes a plan and carries it out.
func (l *Link) tryOut(ctx context.Context, real, inside repository.Dirs, s *sides, realBase, privateBase repository.Index,
	why string) (plan, error) {
	if err := l.lookOutside(real, s); err != nil {
		return plan{}, err
	}
	if s.r.Unfinished != "" {
		return plan{}, fmt.Errorf("finish your %s first; nothing is brought out", s.r.Unfinished)
	}
	q, err := l.verify(ctx, s, privateBase)
	if err != nil {
		return plan{}, err
	}
	defer q.remove()
	if err := q.refuseEntries(ctx, s, privateBase); err != nil {
		return plan{}, err
	}
	s.forward = func(old, fresh string) bool { return q.isForward(ctx, old, fresh) }
	p := l.planOf(*s)
	l.planIndex(*s, &p, realBase, privateBase)
	if q.fault != nil {
		return plan{}, q.fault
	}
	if p.isEmpty() {
		return p, nil
	}
	if err := l.step("objects"); err != nil {
		return plan{}, err
	}
	stays, err := l.largeOut(ctx, inside.Git, real.Common)
	if err != nil {
		return plan{}, err
	}
	p.told = append(p.told, stays...)
	if err := q.install(); err != nil {
		return plan{}, err
	}
	return p, l.apply(ctx, real, s, p, q, why)
}

// lookOutside reads the real side.
func (l *Link) lookOutside(real repository.Dirs, s *sides) (err error) {
	if s.r, err = real.State(l.Place.Hash); err != nil {
		return err
	}
	if s.ri, err = real.Index(l.Place.Hash); err != nil {
		return err
	}
	s.elsewhere, err = l.elsewhere(real)
	return err
}

// elsewhere are the branches on which other working folders of the repository stand.
func (l *Link) elsewhere(real repository.Dirs) (map[string]bool, error) {
	all := map[string]bool{}
	add := func(name string) {
		if text, err := repository.Read(real.Common, name, 4096); err == nil {
			if branch, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: "); ok {
				all[branch] = true
			}
		}
	}
	own := ""
	if l.Place.IsLinked() {
		add("HEAD")
		own = l.Place.Git[strings.LastIndex(l.Place.Git, "/")+1:]
	}
	dir, err := real.Common.Open("worktrees")
	if err != nil {
		return all, nil // there are none
	}
	defer dir.Close()
	inside, err := dir.ReadDir(10_000)
	if err != nil && len(inside) > 0 {
		return nil, err
	}
	for _, e := range inside {
		if e.Name() != own {
			add("worktrees/" + e.Name() + "/HEAD")
		}
	}
	return all, nil
}

// remember makes what both sides have now the base of the next step.
func (l *Link) remember(real repository.Dirs, s sides, done plan, look string) error {
	if err := l.step("remember"); err != nil {
		return err
	}
	b := l.base
	if !s.p.IsLocked && s.p.Unfinished == "" {
		b.Private = sideOf(s.p)
		if err := l.saveIndex("private.index", s.pi); err != nil {
			return err
		}
		if done.isIndex {
			now, err := real.Index(l.Place.Hash)
			if err == nil {
				err = l.saveIndex("real.index", now)
			}
			if err != nil {
				return err
			}
		}
	} else {
		was := b.Private.Refs[done.waits]
		b.Private.Refs, b.Private.Stash = maps.Clone(s.p.Refs), s.p.Stash
		if done.waits != "" {
			set(&b.Private.Refs, done.waits, was)
		}
	}
	for _, m := range done.moves {
		if s.p.Refs[m.name] == m.fresh { // else it is to be brought in
			set(&b.Real.Refs, m.name, m.fresh)
		}
	}
	if done.head != "" {
		b.Real.Head = done.head
	}
	for name, text := range done.notes {
		if text == nil {
			note(&b.Real.Notes, name, "", false)
		} else {
			note(&b.Real.Notes, name, *text, true)
		}
	}
	for _, i := range done.drops {
		b.Real.Stash = slices.DeleteFunc(slices.Clone(b.Real.Stash), func(e repository.Entry) bool { return e.Hash == s.r.Stash[i].Hash })
	}
	for _, e := range done.stores {
		b.Real.Stash = append([]repository.Entry{e}, b.Real.Stash...)
	}
	b.PrivateLook, b.Pending, b.RealLook = look, "", ""
	return l.save()
}

// renew makes a private directory anew that can no longer be read, and keeps what is left of it.
func (l *Link) renew(ctx context.Context, real, inside repository.Dirs, fault error) ([]string, error) {
	at := stamp()
	if err := l.SetAside(at); err != nil {
		return nil, fmt.Errorf("setting the sandbox's git directory aside, since %w: %w", fault, err)
	}
	if err := l.Fill(ctx); err != nil {
		return nil, err
	}
	for _, name := range []string{"real.index", "private.index"} {
		if err := l.saveIndex(name, repository.Index{}); err != nil {
			return nil, err
		}
	}
	p, err := inside.State(l.Place.Hash)
	if err != nil {
		return nil, err
	}
	l.base = &base{Private: sideOf(p)}
	look := real.Look()
	if _, _, err := l.in(real, inside); err != nil {
		return nil, err
	}
	l.base.RealLook, l.base.PrivateLook = look, inside.Look()
	return []string{fmt.Sprintf("The sandbox's git directory was no longer whole (%v): nothing of it was brought out, and it was made "+
		"anew; "+
		"what was left of it is in %s.", fault, l.file("aside/"+at))}, l.save()
}

// transaction is the text of git update-ref --stdin for deletions, and for all else.
func (p plan) transaction(r repository.State, now time.Time, zero string) (deletions, updates string) {
	var gone, fresh strings.Builder
	at := now.UTC().Format(stampFormat)
	for _, m := range expired(r.Refs, now) {
		fmt.Fprintf(&gone, "delete %s %s\n", m.name, m.old)
	}
	for i, m := range p.moves {
		if m.keep {
			fmt.Fprintf(&fresh, "create %s%s/%s/%d %s\n", keptRefs, at, strings.TrimPrefix(m.name, "refs/"), i, m.old)
		}
		switch {
		case m.fresh == m.old:
		case m.fresh == "":
			fmt.Fprintf(&gone, "delete %s %s\n", m.name, m.old)
		case m.old == "":
			fmt.Fprintf(&fresh, "create %s %s\n", m.name, m.fresh)
		default:
			fmt.Fprintf(&fresh, "update %s %s %s\n", m.name, m.fresh, m.old)
		}
	}
	if p.head != "" && !strings.HasPrefix(p.head, "ref: ") {
		fmt.Fprintf(&fresh, "option no-deref\nupdate HEAD %s\n", p.head)
	}
	return gone.String(), fresh.String()
}
