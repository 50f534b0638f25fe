package carry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff/internal/project/private"
	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

// broughtIn are the refs that are brought in.
var broughtIn = []string{"refs/heads/", "refs/tags/", "refs/remotes/", "refs/notes/"}

func comesIn(name string) bool {
	return slices.ContainsFunc(broughtIn, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// In brings what the user did into the private directory. First comes out what an earlier command left.
func (l *Link) In(ctx context.Context, protection Protection) (told []string, err error) {
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
	if err := l.HealAlternates(inside.Git); err != nil {
		return nil, err
	}
	if l.base.PrivateLook != "" && (l.base.Pending != "" || inside.Look() != l.base.PrivateLook) {
		if told, err = l.out(ctx, real, inside, "before a command", protection); err != nil {
			return told, err
		}
	}
	settings, look := l.SettingsLook(), real.Look()
	if look == l.base.RealLook && settings == l.base.Settings {
		return told, nil
	}
	if settings != l.base.Settings {
		if err := l.WriteSettings(ctx, inside.Git); err != nil {
			return told, err
		}
	}
	if err := l.CopyFiles(inside.Git); err != nil {
		return told, err
	}
	whole, said, err := l.in(real, inside)
	if errors.As(err, new(*damage)) {
		return l.renew(ctx, real, inside, err)
	}
	if err != nil {
		return told, fmt.Errorf("bringing git's state into the sandbox: %w", err)
	}
	if !whole {
		look = ""
	}
	l.base.RealLook, l.base.Settings, l.base.PrivateLook = look, settings, inside.Look()
	return append(told, said...), l.save()
}

// in brings in the refs, the stash, HEAD, the notes and the index, as far as they changed outside and not inside. Whole says
// that nothing has to wait for a later command.
func (l *Link) in(real, inside repository.Dirs) (whole bool, told []string, err error) {
	r, err := real.State(l.Place.Hash)
	if err != nil {
		return false, nil, err
	}
	if r.Unfinished != "" {
		return true, []string{"Your " + r.Unfinished + " is going on outside; until it is finished, git's state is neither brought " +
			"into the sandbox " +
			"nor out of it."}, nil
	}
	p, err := inside.State(l.Place.Hash)
	if err != nil {
		return false, nil, err
	}
	if err := l.refsIn(inside.Git, r, p); err != nil {
		return false, nil, err
	}
	if err := l.stashIn(inside.Git, r, p); err != nil {
		return false, nil, err
	}
	if p.Unfinished != "" || p.IsLocked {
		return false, nil, nil
	}
	if err := l.headIn(inside.Git, r, p); err != nil {
		return false, nil, err
	}
	whole, err = l.indexIn(real, inside)
	return whole, nil, err
}

// refsIn writes the refs that changed outside, as packed ones.
func (l *Link) refsIn(root *os.Root, r, p repository.State) error {
	b := l.base
	next, changed := maps.Clone(p.Refs), map[string]bool{}
	for name := range union(r.Refs, b.Real.Refs) {
		if !comesIn(name) || r.Refs[name] == b.Real.Refs[name] {
			continue
		}
		if p.Refs[name] != b.Private.Refs[name] && p.Refs[name] != r.Refs[name] {
			continue // changed inside as well, and not out yet
		}
		set(&b.Real.Refs, name, r.Refs[name])
		set(&b.Private.Refs, name, r.Refs[name])
		if p.Refs[name] != r.Refs[name] {
			set(&next, name, r.Refs[name])
			changed[name] = true
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return writeRefs(root, next, changed)
}

func union(a, b map[string]string) map[string]bool {
	all := map[string]bool{}
	for name := range a {
		all[name] = true
	}
	for name := range b {
		all[name] = true
	}
	return all
}

func set(refs *map[string]string, name, value string) {
	if *refs == nil {
		*refs = map[string]string{}
	}
	if value == "" {
		delete(*refs, name)
	} else {
		(*refs)[name] = value
	}
}

// lockWait is how long a lock of git's is waited for.
const lockWait = 2 * time.Second

// lockFile takes one of git's locks.
func lockFile(root *os.Root, name string, wait time.Duration) (f *os.File, err error) {
	for end := time.Now().Add(wait); ; {
		f, err = root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
		if err == nil || !errors.Is(err, fs.ErrExist) || time.Now().After(end) {
			return f, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// writeRefs makes a private directory's packed refs what they are to be, and takes away the files of
// those that changed.
func writeRefs(root *os.Root, refs map[string]string, changed map[string]bool) error {
	lock, err := lockFile(root, "packed-refs.lock", lockWait)
	if err != nil {
		return fmt.Errorf("locking the refs inside: %w", err)
	}
	var text strings.Builder
	text.WriteString("# pack-refs with: sorted \n")
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if name != "refs/stash" {
			fmt.Fprintf(&text, "%s %s\n", refs[name], name)
		}
	}
	_, err = lock.WriteString(text.String())
	if err = errors.Join(err, lock.Close()); err == nil {
		err = root.Rename("packed-refs.lock", "packed-refs")
	}
	if err != nil {
		return errors.Join(err, root.Remove("packed-refs.lock"))
	}
	for name := range changed {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
	}
	return nil
}

// stashIn adds what was stashed outside, and drops what was dropped there.
func (l *Link) stashIn(root *os.Root, r, p repository.State) error {
	added, dropped := differ(l.base.Real.Stash, r.Stash)
	next := applied(p.Stash, added, dropped)
	l.base.Real.Stash, l.base.Private.Stash = r.Stash, applied(l.base.Private.Stash, added, dropped)
	if slices.Equal(next, p.Stash) {
		return nil
	}
	if len(next) == 0 {
		for _, name := range []string{"logs/refs/stash", "refs/stash"} {
			if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	}
	return writeStash(root, next, l.Place.Hash)
}

// writeStash writes the stash, which git keeps as the log of one ref.
func writeStash(root *os.Root, next []repository.Entry, hash int) error {
	if len(next) == 0 {
		return nil
	}
	var text strings.Builder
	before := strings.Repeat("0", 2*hash)
	for _, e := range slices.Backward(next) {
		fmt.Fprintf(&text, "%s %s bailiff <bailiff@localhost> %d +0000\t%s\n", before, e.Hash, time.Now().Unix(), cleanLine(e.Message))
		before = e.Hash
	}
	if err := private.Write(root, "logs/refs/stash", []byte(text.String()), 0o600); err != nil {
		return err
	}
	return private.Write(root, "refs/stash", []byte(next[0].Hash+"\n"), 0o600)
}

// applied is a stash with what came and without what went.
func applied(list, added []repository.Entry, dropped map[string]bool) []repository.Entry {
	next := slices.DeleteFunc(slices.Clone(list), func(e repository.Entry) bool { return dropped[e.Hash] })
	for _, e := range slices.Backward(added) {
		if !slices.ContainsFunc(next, func(has repository.Entry) bool { return has.Hash == e.Hash }) {
			next = append([]repository.Entry{e}, next...)
		}
	}
	return next
}

// differ are the entries that came, the newest first, and those that went, by their hashes.
func differ(was, is []repository.Entry) (added []repository.Entry, dropped map[string]bool) {
	dropped = map[string]bool{}
	for _, e := range was {
		dropped[e.Hash] = true
	}
	had := maps.Clone(dropped)
	for _, e := range is {
		if delete(dropped, e.Hash); !had[e.Hash] {
			added = append(added, e)
		}
	}
	return added, dropped
}

// headIn brings in HEAD and the notes on a merge.
func (l *Link) headIn(root *os.Root, r, p repository.State) error {
	b := l.base
	if r.Head != b.Real.Head && (p.Head == b.Private.Head || p.Head == r.Head) {
		if p.Head != r.Head {
			if err := private.Write(root, "HEAD", []byte(r.Head+"\n"), 0o600); err != nil {
				return err
			}
		}
		b.Real.Head, b.Private.Head = r.Head, r.Head
	}
	for _, name := range repository.Notes {
		now, is := r.Notes[name]
		was, had := b.Real.Notes[name]
		if is == had && now == was || p.Notes[name] != b.Private.Notes[name] {
			continue
		}
		var err error
		if is {
			err = private.Write(root, name, []byte(now), 0o600)
		} else if err = root.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return err
		}
		note(&b.Real.Notes, name, now, is)
		note(&b.Private.Notes, name, now, is)
	}
	return nil
}

func note(notes *map[string]string, name, text string, is bool) {
	if *notes == nil {
		*notes = map[string]string{}
	}
	if is {
		(*notes)[name] = text
	} else {
		delete(*notes, name)
	}
}

// indexIn copies the user's index, unless one inside waits to be brought out.
func (l *Link) indexIn(real, inside repository.Dirs) (done bool, err error) {
	r, err := real.Index(l.Place.Hash)
	if err != nil {
		return false, err
	}
	p, err := inside.Index(l.Place.Hash)
	if err != nil {
		return false, err
	}
	_, was, err := l.indexes()
	if err != nil || len(p.Changes(was)) > 0 {
		return false, err
	}
	if len(r.Changes(p)) > 0 {
		p = r.As(uint32(l.User.UID), uint32(l.User.GID), uint32(l.User.InsideUID), uint32(l.User.InsideGID))
		if len(p.Text) == 0 {
			err = inside.Git.Remove("index")
		} else {
			err = private.Write(inside.Git, "index", p.Text, 0o600)
		}
		if err != nil {
			return false, err
		}
	}
	if err := l.saveIndex("private.index", p); err != nil {
		return false, err
	}
	return true, l.saveIndex("real.index", r)
}
