package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// overdraft is how much more than it may the store of a folder takes for what became of a promise.
const overdraft = 1 << 30

// ErrUnkept says that a command may change something that a snapshot has not.
var ErrUnkept = errors.New("no snapshot keeps all that the command may change")

// longest is how long a command waits for a snapshot.
const longest = 20 * time.Second

// Before takes a snapshot of each folder that a command may write, as it is now, and keeps it. It fails if the command may change
// anything that is not in it. Callers must call [Store.After] once the command has ended.
func (s *Store) Before(ctx context.Context, e Entry, mounts []bailiff.Mount, reach Reach) (Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	e.Time, e.Folders = s.config.Now().UTC(), nil
	for _, m := range mounts {
		k, err := s.before(ctx, m, reach)
		if err != nil {
			return e, err
		}
		e.Folders = append(e.Folders, k)
	}
	return e, s.keep(e)
}

func (s *Store) before(ctx context.Context, m bailiff.Mount, reach Reach) (k Kept, err error) {
	f := s.folder(m.Source)
	if err := f.lock(ctx); err != nil {
		return k, fmt.Errorf("waiting for the snapshots of %s: %w", f.path, err)
	}
	defer f.unlock()
	if !s.Ready([]string{f.path}) {
		return k, fmt.Errorf("%w of %s", ErrFull, f.path)
	}
	t, err := s.take(ctx, f, s.config.MaxBytes)
	if err != nil {
		return k, fmt.Errorf("taking a snapshot of %s: %w", f.path, err)
	}
	for _, u := range t.Unkept {
		if reach.endangers(m.Target, u) {
			return k, fmt.Errorf("%w: %s: %s", ErrUnkept, u.Path, u.Why)
		}
	}
	return Kept{Folder: f.path, Before: t.Tree, Earlier: t.Span, Unkept: t.Unkept[:min(len(t.Unkept), mostTold)], taken: f.now().Taken}, nil
}

// mostTold is how many things that a snapshot has not are kept with it.
const mostTold = 50

// After takes the snapshots after a command, so that what it changed is known, and returns at once. A caller that writes one of the folders
// next waits for them ([Store.Settle]).
func (s *Store) After(e Entry) {
	var held []*folder
	for _, k := range e.Folders {
		if f := s.folder(k.Folder); f.lock(s.running) == nil {
			held = append(held, f)
		}
	}
	s.work.Go(func() {
		ctx, cancel := context.WithTimeout(s.running, longest)
		defer cancel()
		e.Folders = slices.Clone(e.Folders)
		for _, f := range held {
			t, err := s.take(ctx, f, s.config.MaxBytes+overdraft)
			at := slices.IndexFunc(e.Folders, func(k Kept) bool { return k.Folder == f.path })
			k := &e.Folders[at]
			f.mu.Lock()
			k.After, k.Spans = t.Tree, f.watch.since(k.Before, t.Tree, k.taken)
			f.mu.Unlock()
			if err != nil {
				k.After, k.Spans = "", nil
				s.config.Log.Warn("what a command changed is not known", "command", e.ID, "folder", f.path, "error", err)
			}
		}
		if err := s.keep(e); err != nil {
			s.config.Log.Warn("what a command changed cannot be kept", "command", e.ID, "error", err)
		}
		for _, f := range held {
			f.unlock()
		}
	})
}

// Settle waits until the snapshots after the last command are taken.
func (s *Store) Settle(ctx context.Context, paths []string) error {
	for _, path := range paths {
		s.mu.Lock()
		f := s.folders[path]
		s.mu.Unlock()
		if f == nil || f.isMaking() {
			continue
		}
		if err := f.lock(ctx); err != nil {
			return err
		}
		f.unlock()
	}
	return nil
}

func (f *folder) isMaking() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.making
}
