package enforcer

import (
	"context"
	"errors"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/internal/project/snapshot"
)

// snapshots keep what commands change of folders of the host.
type snapshots interface {
	// Prepare makes the first snapshots of folders beside the work; Ready says whether another can be promised.
	Prepare(folders []string)
	Ready(folders []string) bool
	// Begin notes that a command runs in folders, until end is called, and after that while processes says so.
	Begin(e snapshot.Entry, folders []string, processes func() bool) (end func())
	// Settle waits for what After began.
	Settle(ctx context.Context, folders []string) error
	Before(ctx context.Context, e snapshot.Entry, mounts []bailiff.Mount, reach snapshot.Reach) (snapshot.Entry, error)
	After(e snapshot.Entry)
}

// errSnapshot keeps a request from running whose decision orders a snapshot that cannot be had.
var errSnapshot = errors.New("the policies order a snapshot that cannot be taken")

// shared are the folders of this machine that a decision's sandbox shows, and may write.
func (e *Enforcer) shared(place bailiff.BackendTerms) (all []bailiff.Mount) {
	shower, ok := e.config.Backends[place.Name].(backends.Shower)
	if !ok || shower.Shows(place.Mounts) != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(place.Mounts), func(m bailiff.Mount) bool { return m.ReadOnly })
}

func sources(mounts []bailiff.Mount) []string {
	all := make([]string, len(mounts))
	for i, m := range mounts {
		all[i] = m.Source
	}
	return all
}

// offerUndo judges a request that is asked about, or only observed, once more, as what can be undone. It stays as it was unless
// the policies let it run for that.
func (e *Enforcer) offerUndo(ctx context.Context, m *judged) {
	place := m.Decision.Backend
	isDue := m.Decision.Outcome == bailiff.Ask || len(m.Decision.Observed) > 0
	if e.config.Snapshots == nil || !isDue || m.located.Tool != bailiff.Terminal {
		return
	}
	session := lease.Key{Caller: m.located.Caller, Session: m.located.Session.ID}
	mounts := e.shared(place)
	if !e.config.Snapshots.Ready(sources(mounts)) || e.processes.Running(session) > 0 {
		return
	}
	j := e.weigh(ctx, m, found{undo: place.Name})
	if j.Decision.Outcome == bailiff.Allow && j.Decision.Snapshot && slices.EqualFunc(e.shared(j.Decision.Backend), mounts, isSameFolder) {
		m.Judgement = j
	}
}

func isSameFolder(a, b bailiff.Mount) bool { return a.Source == b.Source && a.Target == b.Target }

// keepBefore takes the snapshot that a decision orders, with the sandbox held, so that nothing but a person changes the
// folders before the request runs. If there is none, the request is judged anew as what cannot be undone.
func (e *Enforcer) keepBefore(ctx context.Context, m *judged) (isKept bool) {
	err := errSnapshot
	if mounts := e.shared(m.Decision.Backend); e.config.Snapshots != nil && m.located.Tool == bailiff.Terminal && len(mounts) > 0 {
		if m.fault = e.hold(ctx, m, false); m.fault != nil {
			return true
		}
		before := snapshot.Entry{ID: m.event.DecisionID, Request: m.located.ID, Caller: m.located.Caller, Session: m.located.Session.ID,
			Text: m.located.Args.Command}
		before, err = e.config.Snapshots.Before(ctx, before, mounts, reachOf(m.Judgement))
		if err == nil {
			m.kept, m.event.Custom.Snapshot = &before, map[string]string{}
			for _, k := range before.Folders {
				m.event.Custom.Snapshot[k.Folder] = k.Before
			}
			return true
		}
	}
	e.config.Log.InfoContext(ctx, "a request is judged as what cannot be undone", "decision", m.event.DecisionID, "error", err)
	m.release()
	digest := m.event.Custom.Digest
	e.judgeBy(ctx, m, func(ctx context.Context, m *judged) { m.Judgement = e.weigh(ctx, m, found{}) })
	m.event.Custom.Digest = digest
	if m.Decision.Snapshot {
		m.fault = errors.Join(errSnapshot, err)
	}
	return m.Decision.Snapshot
}

func reachOf(j bailiff.Judgement) snapshot.Reach {
	return snapshot.Reach{Paths: j.Changes, All: j.AllChanges, Git: j.Discards}
}

// around has a run in a sandbox begin once it is known what earlier ones changed of its folders, and finds out afterwards what it
// changed itself.
func (e *Enforcer) around(ctx context.Context, g grant, run func(context.Context, grant) answer) answer {
	if e.config.Snapshots == nil {
		return run(ctx, g)
	}
	folders := sources(e.shared(g.Decision.Backend))
	e.config.Snapshots.Prepare(folders)
	if err := e.config.Snapshots.Settle(ctx, folders); err != nil {
		return e.noSandbox(ctx, g.Decision, err)
	}
	of := lease.Key{Caller: g.located.Caller, Session: g.located.Session.ID}
	end := e.config.Snapshots.Begin(snapshot.Entry{ID: g.event.DecisionID, Caller: of.Caller, Session: of.Session}, folders,
		func() bool { return e.processes.Running(of) > 0 })
	defer end() // also if it panics
	a := run(ctx, g)
	end()
	if g.kept != nil {
		e.config.Snapshots.After(*g.kept)
		a.Note("What it changed can be undone by a person: bailiff undo " + g.kept.ID)
	}
	return a
}
