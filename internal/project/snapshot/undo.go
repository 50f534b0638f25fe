package snapshot

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/project/keeper"
)

// Undone is what an undoing did.
type Undone struct {
	// Entry is its own, by which it can be undone.
	Entry Entry
	// Restored are the files that are as they were before the command, Changed those that changed since it, and were left, and Failed
	// those that could not be put back, with the reason.
	Restored []string
	Changed  []string
	Failed   []string
}

// ErrUnknown says that there is nothing to be undone.
var ErrUnknown = errors.New("no snapshot")

// Undo puts back what a command changed: all of it, or what lies at the paths, seen from the folder or absolute. What changed since is
// left as it is, unless force says otherwise. as is the entry under which the undoing is kept.
func (s *Store) Undo(ctx context.Context, id string, paths []string, force bool, as Entry) (Undone, error) {
	e, err := s.Find(ctx, id)
	if err != nil {
		return Undone{}, err
	}
	done := Undone{Entry: as}
	done.Entry.Undoes, done.Entry.Time = e.ID, s.config.Now().UTC()
	matched := map[string]bool{}
	for _, k := range e.Folders {
		if k.After == "" && !force {
			return done, fmt.Errorf("%w was taken of %s after the command, so that what it changed is not known; "+
				"with force all is put back that changed since", ErrUnknown, k.Folder)
		}
		if err := s.undo(ctx, k, selection{paths, matched}, force, &done); err != nil {
			return done, err
		}
	}
	for _, p := range paths {
		if !matched[p] {
			done.Failed = append(done.Failed, p+": the command changed nothing there")
		}
	}
	return done, s.keep(done.Entry)
}

// selection says which files are meant.
type selection struct {
	paths   []string
	matched map[string]bool
}

func (s selection) has(folder, name string) bool {
	if len(s.paths) == 0 {
		return true
	}
	has := false
	for _, p := range s.paths {
		at := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(p, folder+"/"), "./"), "/")
		if at == name || strings.HasPrefix(name, at+"/") || p == folder {
			s.matched[p], has = true, true
		}
	}
	return has
}

func (s *Store) undo(ctx context.Context, k Kept, meant selection, force bool, done *Undone) error {
	f := s.folder(k.Folder)
	if err := f.lock(ctx); err != nil {
		return err
	}
	defer f.unlock()
	before, err := s.take(ctx, f, s.config.MaxBytes+overdraft)
	if err != nil {
		return fmt.Errorf("taking a snapshot of %s before it is changed: %w", f.path, err)
	}
	after := cmp.Or(k.After, before.Tree)
	by, err := s.between(ctx, f, k.Before, after)
	if err != nil {
		return err
	}
	since, err := s.between(ctx, f, after, before.Tree)
	if err != nil {
		return err
	}
	var due []Change
	for _, c := range by {
		at := slices.IndexFunc(since, func(n Change) bool { return n.Path == c.Path })
		switch {
		case !meant.has(f.path, c.Path):
		case at >= 0 && since[at].is == c.was: // it is as it was
		case at >= 0 && !force || isUnkept(before.Unkept, c.Path):
			done.Changed = append(done.Changed, c.Path)
		default:
			due = append(due, c)
		}
	}
	if err := s.putBack(ctx, f, due, done); err != nil {
		return err
	}
	now, err := s.take(ctx, f, s.config.MaxBytes+overdraft)
	if err != nil {
		return fmt.Errorf("taking a snapshot of %s after it was changed: %w", f.path, err)
	}
	done.Entry.Folders = append(done.Entry.Folders, Kept{Folder: f.path, Before: before.Tree, After: now.Tree, Earlier: before.Span,
		Spans: []Span{now.Span}})
	return nil
}

func isUnkept(all []Unkept, name string) bool {
	return slices.ContainsFunc(all, func(u Unkept) bool { return name == u.Path || strings.HasPrefix(name, u.Path+"/") })
}

// putBack makes files what they were. First goes what the command made, so that folders and files can change places.
func (s *Store) putBack(ctx context.Context, f *folder, due []Change, done *Undone) error {
	at, err := openFolder(f.path)
	if err != nil {
		return err
	}
	defer at.close()
	note := func(c Change, err error) {
		if err != nil {
			done.Failed = append(done.Failed, c.Path+": "+err.Error())
			return
		}
		done.Restored = append(done.Restored, c.Path)
	}
	var content []Change
	for _, c := range due {
		if c.was.isThere() {
			content = append(content, c)
		} else {
			note(c, at.remove(c.Path))
		}
	}
	return s.contents(ctx, f, content, func(c Change, from io.Reader, size int64) error {
		err := at.put(c.Path, c.was, from, size)
		note(c, err)
		return nil
	})
}

// contents reads files of the store, one after another.
func (s *Store) contents(ctx context.Context, f *folder, all []Change, each func(c Change, from io.Reader, size int64) error) error {
	if len(all) == 0 {
		return nil
	}
	var asked strings.Builder
	for _, c := range all {
		asked.WriteString(c.was.blob + "\n")
	}
	in, out := io.Pipe()
	j := s.job(f, `"$@" cat-file --batch`)
	j.Stdin, j.Stdout, j.MaxOutput = strings.NewReader(asked.String()), out, s.config.MaxBytes*2
	ended := make(chan error, 1)
	go func() {
		err := s.config.Jobs.Run(ctx, j)
		out.CloseWithError(errors.Join(err, io.ErrUnexpectedEOF))
		ended <- err
	}()
	err := readEach(bufio.NewReader(in), all, each)
	in.CloseWithError(err)
	if wrong := <-ended; err == nil && wrong != nil {
		err = worded(wrong)
	}
	return err
}

func readEach(from *bufio.Reader, all []Change, each func(c Change, from io.Reader, size int64) error) error {
	for _, c := range all {
		line, err := from.ReadString('\n')
		if err != nil {
			return err
		}
		words := strings.Fields(line)
		if len(words) != 3 || words[0] != c.was.blob || words[1] != "blob" {
			return fmt.Errorf("the snapshot lacks the content of %s", c.Path)
		}
		size, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return err
		}
		part := io.LimitReader(from, size)
		if err = each(c, part, size); err == nil {
			_, err = io.Copy(io.Discard, part)
		}
		if err == nil {
			_, err = from.Discard(1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// permOf are the permissions of a file of a snapshot.
func (f file) permOf() fs.FileMode {
	perm, err := strconv.ParseUint(f.perm, 8, 32)
	if err != nil {
		return 0o600
	}
	return fs.FileMode(perm)
}

var _ Jobs = (*keeper.Keeper)(nil)
