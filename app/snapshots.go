package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/project/snapshot"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// openSnapshots opens what commands can be undone by. Where this machine lacks what that needs, nothing can be undone.
func (c *core) openSnapshots() {
	jobs, err := keeper.New()
	if err == nil {
		c.snapshots, err = snapshot.Open(snapshot.Config{Dir: filepath.Join(c.cfg.StateDir, "snapshots"), Jobs: jobs,
			Scrub: c.scrubber.Scrub, Log: c.log})
	}
	if c.noUndo = err; err != nil {
		c.snapshots = nil
		c.log.Info("no command can be undone, so that it is asked about", "error", err)
	}
}

// undoer is what operators can see and undo of commands.
type undoer struct{ *core }

func (u undoer) Commands(session string) []api.Command {
	all := []api.Command{}
	if u.snapshots == nil {
		return all
	}
	for _, e := range u.snapshots.Entries(session) {
		all = append(all, commandOf(e))
	}
	return all
}

func commandOf(e snapshot.Entry) api.Command {
	c := api.Command{ID: e.ID, RequestID: e.Request, Caller: e.Caller, Session: e.Session, Text: e.Text, Time: e.Time, Undoes: e.Undoes,
		Folders: []string{}}
	for _, k := range e.Folders {
		c.Folders = append(c.Folders, k.Folder)
	}
	return c
}

func (u undoer) Changes(ctx context.Context, id string, patch bool) (changes api.Changes, err error) {
	e, err := u.find(ctx, id)
	if err != nil {
		return changes, err
	}
	changes.Command = commandOf(e)
	all, err := u.snapshots.Changes(ctx, e)
	if err != nil {
		return changes, err
	}
	for i, k := range e.Folders {
		of := api.FolderChanges{Folder: k.Folder, Known: k.After != "", Changes: fileChanges(all[i])}
		if of.Earlier, err = u.earlier(ctx, e, k); err != nil {
			return changes, err
		}
		for _, k := range k.Unkept {
			of.Unkept = append(of.Unkept, api.Unkept{Path: k.Path, Why: k.Why})
		}
		changes.Folders = append(changes.Folders, of)
	}
	if patch {
		changes.Patch, changes.IsCut, err = u.snapshots.Patch(ctx, e)
	}
	return changes, err
}

func (u undoer) earlier(ctx context.Context, e snapshot.Entry, k snapshot.Kept) (*api.EarlierChanges, error) {
	was, err := u.snapshots.Earlier(ctx, e, k)
	if err != nil || len(was.Changes) == 0 {
		return nil, err
	}
	return &api.EarlierChanges{Since: was.Since, Whose: was.Whose, Changes: fileChanges(was.Changes)}, nil
}

func fileChanges(all []snapshot.Change) []api.FileChange {
	list := []api.FileChange{}
	for _, c := range all {
		list = append(list,
			api.FileChange{Path: c.Path, Kind: c.Kind, Added: c.Added, Removed: c.Removed, Ignored: c.Ignored, Whose: c.Whose})
	}
	return list
}

func (u undoer) find(ctx context.Context, id string) (snapshot.Entry, error) {
	if u.snapshots == nil {
		return snapshot.Entry{}, fmt.Errorf("%w: no command can be undone here: %w", api.ErrUnknown, u.noUndo)
	}
	e, err := u.snapshots.Find(ctx, id)
	if errors.Is(err, snapshot.ErrUnknown) {
		err = fmt.Errorf("%w: %w; \"bailiff changes\" lists those that are kept", api.ErrUnknown, err)
	}
	return e, err
}

// Undo writes down who undoes what before it begins, and what became of it.
func (u undoer) Undo(ctx context.Context, who bailiff.Approver, id string, how api.Undoing) (undone api.Undone, err error) {
	e, err := u.find(ctx, id)
	if err != nil {
		return undone, err
	}
	event := api.Event{DecisionID: audit.NewID(), Timestamp: time.Now(), RequestedBy: who.Channel,
		Custom: api.Custom{Event: api.UndoEvent, Session: e.Session, RequestID: e.Request,
			Undo: &api.Undo{Of: e.ID, By: who.Name(), Force: how.Force}}}
	if err := u.decisions.Record(ctx, event); err != nil {
		return undone, fmt.Errorf("recording the undoing: %w", err)
	}
	as := snapshot.Entry{ID: event.DecisionID, Session: e.Session, Text: "undo " + e.ID}
	done, err := u.snapshots.Undo(context.WithoutCancel(ctx), e.ID, how.Paths, how.Force, as)
	ended := *event.Custom.Undo
	ended.Restored, ended.Left, ended.Failed = len(done.Restored), len(done.Changed), len(done.Failed)
	event.Timestamp, event.Custom.Undo = time.Now(), &ended
	event.Custom.Message = "It has ended."
	if err != nil {
		event.Custom.Message = bailiff.Sentence(err.Error())
	}
	u.decisions.Note(event)
	if errors.Is(err, snapshot.ErrUnknown) {
		err = fmt.Errorf("%w: %w", api.ErrUnknown, err)
	}
	return api.Undone{ID: event.DecisionID, Restored: list(done.Restored), Left: list(done.Changed), Failed: list(done.Failed)}, err
}

// chatUndoer undoes for the people of a chat service who may operate the sidecar.
type chatUndoer struct {
	undoer
	service string
}

// May is nil if an account belongs to a person who may operate the sidecar, as on the operators' socket.
func (c chatUndoer) May(user string) error {
	return c.roster.permit(c.roster.IdentifyAccount(c.service, user), bailiff.MayOperate)
}

func (c chatUndoer) Undo(ctx context.Context, user, id string, how api.Undoing) (api.Undone, error) {
	if err := c.May(user); err != nil {
		return api.Undone{}, err
	}
	return c.undoer.Undo(ctx, c.roster.IdentifyAccount(c.service, user), id, how)
}

// list is never null in JSON.
func list(names []string) []string { return append([]string{}, names...) }
