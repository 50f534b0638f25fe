package pdp

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/judging/history"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// RollBack puts policies in force that were before, by the beginning of their revision
// at least, until another word or [PDP.Resume]. Record writes the word down with the
// whole revision, once it is sure that those policies are sound; if it cannot, nothing
// is changed. The error is [api.ErrRevisionUnknown], [api.ErrUnsound] or that of a disk.
func (p *PDP) RollBack(ctx context.Context, word api.Rollback, record func(api.Rollback) error) error {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	files, s, err := p.former(ctx, word.Revision)
	if err != nil {
		return err
	}
	word.Revision = s.revision
	if err := record(word); err != nil {
		return err
	}
	if err := p.config.History.RollBack(word); err != nil {
		return err
	}
	p.inForce.Store(s)
	p.rolledBack.Store(&word)
	p.replaced.Store(nil)
	p.saveToHistory(s, files, history.ByRollback)
	p.announce()
	return nil
}

// Resume puts the policies of the configuration in force again. Where they are not
// sound, or record fails, nothing is changed; the error is [api.ErrNotRolledBack],
// [api.ErrUnsound] or that of a disk.
func (p *PDP) Resume(ctx context.Context, record func() error) error {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	if p.rolledBack.Load() == nil {
		return api.ErrNotRolledBack
	}
	files, faults := p.files()
	if len(faults) > 0 {
		return unsound(faults)
	}
	s, err := p.ready(ctx, files, p.isOwn())
	if err != nil {
		return err
	}
	if err := record(); err != nil {
		return err
	}
	if err := p.config.History.Resume(); err != nil {
		return err
	}
	p.rolledBack.Store(nil)
	p.inForce.Store(s)
	p.saveToHistory(s, files, p.origin())
	p.announce()
	return nil
}

// restore puts in force what an operator rolled back to before this process.
func (p *PDP) restore(ctx context.Context) error {
	if p.config.History == nil {
		return nil
	}
	word, err := p.config.History.RolledBack()
	if err != nil || word == nil {
		return err
	}
	_, s, err := p.former(ctx, word.Revision)
	if err != nil {
		return fmt.Errorf("%w; %s had rolled back to these policies: have the folder as it was, or remove %s to have those of the "+
			"configuration in force",
			err, word.By, p.config.History.RollbackFile())
	}
	p.inForce.Store(s)
	p.announce()
	p.rolledBack.Store(word)
	return nil
}

// former are policies that were in force, ready to be so again: they are what they
// were, and everything holds of them that must hold of policies today.
func (p *PDP) former(ctx context.Context, name string) ([]source.File, *snapshot, error) {
	r, err := p.config.History.Find(name)
	if err != nil {
		return nil, nil, err
	}
	kept, err := p.Former(r)
	if err != nil {
		return nil, nil, err
	}
	files := asRead(kept)
	s, err := p.ready(ctx, files, false)
	return files, s, err
}

// ready are policies of which all holds that must hold before they come into force; own are those of this program.
func (p *PDP) ready(ctx context.Context, files []source.File, own bool) (*snapshot, error) {
	ctx, end := context.WithCancel(ctx) // ends tests for which no caller waits
	defer end()
	compile, faults := p.candidate(ctx, files, own)
	if len(faults) > 0 {
		return nil, unsound(faults)
	}
	s, faults := compile(ctx)
	if len(faults) > 0 {
		return nil, unsound(faults)
	}
	return s, nil
}

// Former are the files of a revision, if they are those that were in force.
func (p *PDP) Former(r history.Revision) ([]history.File, error) {
	kept, err := p.config.History.Files(r)
	if err != nil {
		return nil, unsound(fmt.Errorf("reading revision %s: %w", r.Name, err))
	}
	files := asRead(kept)
	if r.Damaged || source.Digest(files) != r.Content || source.Revision(files) != r.Name {
		return nil, unsound(fmt.Errorf("what is kept of revision %s is damaged", r.Name))
	}
	return kept, nil
}

func asRead(kept []history.File) []source.File {
	files := make([]source.File, len(kept))
	for i, f := range kept {
		files[i] = source.File{Name: f.Name, Place: f.Place, Archive: f.Archive, Text: f.Text}
	}
	return files
}

func asKept(files []source.File) []history.File {
	kept := make([]history.File, len(files))
	for i, f := range files {
		kept[i] = history.File{Name: f.Name, Place: f.Place, Archive: f.Archive, Text: f.Text}
	}
	return kept
}

func unsound(err error) error { return fmt.Errorf("%w: %w", api.ErrUnsound, err) }

// noteReplaced notes that a bundle is in force again in the place of a later one: an attacker
// who controls the server can offer an old bundle, which is signed, without the key.
func (p *PDP) noteReplaced(s *snapshot) {
	p.replaced.Store(nil)
	if p.config.History == nil || p.archive == nil {
		return
	}
	all, err := p.config.History.All()
	before := slices.IndexFunc(all, func(r history.Revision) bool { return r.Name == s.revision && r.Content == s.content })
	switch {
	case err != nil || before < 0:
	case before == 0 && all[0].Replaced != "":
		p.replaced.Store(&all[0].Replaced)
	case before > 0:
		p.replaced.Store(&all[0].Name)
		p.config.Log.Warn("the bundle server went back: policies are in force again in the place of later ones", "revision", s.revision,
			"later", all[0].Name)
	}
}

// saveToHistory has the history keep the policies in force, unless they are those that it
// had last. A failure to save them does not end their being in force.
func (p *PDP) saveToHistory(s *snapshot, of []source.File, origin string) {
	if p.config.History == nil {
		return
	}
	err := p.saveNew(s, of, origin)
	p.unkept.Set(err)
	if err != nil {
		p.config.Log.Error("the policies in force cannot be rolled back to", "error", err)
	}
}

func (p *PDP) saveNew(s *snapshot, of []source.File, origin string) error {
	all, err := p.config.History.All()
	if err != nil {
		return err
	}
	if origin != history.ByRollback && len(all) > 0 && !all[0].Damaged && all[0].Name == s.revision && all[0].Content == s.content &&
		all[0].Way == origin {
		return nil
	}
	r := history.Revision{Name: s.revision, Content: s.content, Since: s.loaded, Way: origin, Files: s.files, Bundles: s.bundles}
	if later := p.replaced.Load(); later != nil {
		r.Replaced = *later
	}
	return p.config.History.Keep(r, asKept(of))
}

// origin says where policies come from that are in force without a rollback.
func (p *PDP) origin() string {
	switch {
	case p.isOwn():
		return history.ByProgram
	case p.archive != nil:
		return history.ByBundle
	}
	return history.ByFiles
}
