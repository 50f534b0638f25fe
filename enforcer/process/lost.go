package process

import (
	"fmt"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
)

// maxLost bounds the sessions whose processes went and that were not told.
const maxLost = 10_000

// lostProcess is a background process that went with its sandbox.
type lostProcess struct {
	id  string
	of  bailiff.Session
	why string
	// told says that its session knows, or need not be told since it had ended before.
	told bool
}

// lossMessage is why a process is gone, or about to be; ended says that it had come to
// its end before, so that only its log went with the sandbox.
func (p *Process) lossMessage() (why string, ended bool) {
	end, is := p.ended()
	switch {
	case !is:
		return p.lease.WhyGone(), false
	case p.wasLost():
		return end.Message, false
	}
	return fmt.Sprintf("It had ended (%s, exit code %d), and its output went with its sandbox.", end.Status, end.ExitCode), true
}

// wasLost says whether it ended only since its sandbox did.
func (p *Process) wasLost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// Removed drops the processes in a sandbox that is gone; their sessions can ask why.
func (t *Table) Removed(l *lease.Lease) {
	gone := map[lease.Key][]*lostProcess{}
	for _, p := range t.in(l) {
		why, ended := p.lossMessage()
		gone[lease.KeyOf(p.request)] = append(gone[lease.KeyOf(p.request)],
			&lostProcess{p.id, p.request.Session, why, ended || p.told.Load()})
	}
	t.drop(func(p *Process) bool { return p.lease == l })
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, all := range gone {
		t.recordLostLocked(key, all)
	}
}

// in lists the processes in a sandbox.
func (t *Table) in(l *lease.Lease) (all []*Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, known := range t.known {
		for _, p := range known {
			if p.lease == l {
				all = append(all, p)
			}
		}
	}
	return all
}

func (t *Table) recordLostLocked(key lease.Key, all []*lostProcess) {
	if t.gone == nil || len(t.gone) >= maxLost { // of sessions that never came back
		t.gone = map[lease.Key][]*lostProcess{}
	}
	all = append(t.gone[key], all...)
	t.gone[key] = all[max(0, len(all)-mostEnded):]
}

// Lost notes that a process of an earlier run of this sidecar is not gone on with.
func (t *Table) Lost(record ledger.Process, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recordLostLocked(lease.Key{Caller: record.Caller, Session: record.Request.Session.ID},
		[]*lostProcess{{record.ID, record.Request.Session, why, record.End != nil}})
}

// lossMessage is why the process that a request names is gone; empty if nothing is
// known of it. Its session is told by that.
func (t *Table) lossMessage(req bailiff.Request) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.gone[lease.KeyOf(req)] {
		if d.id == req.Args.ProcessID && lease.SameUser(d.of, req.Session) {
			d.told = true
			return d.why
		}
	}
	return ""
}

// Losses words, once, which background processes of a request's session went with
// their sandbox.
func (t *Table) Losses(req bailiff.Request) (sentences []string) {
	for _, p := range t.list(req) {
		if p.Running() || p.told.Load() {
			continue
		}
		if why, ended := p.lossMessage(); !ended && why != "" && !p.told.Swap(true) {
			sentences = append(sentences, lostMessage(p.id, why))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.gone[lease.KeyOf(req)] {
		if !d.told && lease.SameUser(d.of, req.Session) {
			d.told = true
			sentences = append(sentences, lostMessage(d.id, d.why))
		}
	}
	return sentences
}

func lostMessage(id, why string) string {
	return fmt.Sprintf("Background process %s is gone: %s", id, why)
}
