package enforcer

import (
	"fmt"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

// maxBereaved bounds the sessions whose processes went and that were not told.
const maxBereaved = 10_000

// departed is what is left of a background process whose sandbox is gone: why.
type departed struct {
	id  string
	of  bailiff.Session
	why string
	// told says that its session knows, or need not be told since it had ended before.
	told bool
}

// epitaph is why a process is gone, or about to be; ended says that it had come to
// its end before, so that only its log went with the sandbox.
func (p *process) epitaph() (why string, ended bool) {
	end, is := p.ended()
	switch {
	case !is:
		return p.lease.leases.whyGone(p.lease), false
	case p.wasLost():
		return end.Message, false
	}
	return fmt.Sprintf("It had ended (%s, exit code %d), and its output went with its sandbox.", end.Status, end.ExitCode), true
}

// wasLost says whether it ended only since its sandbox did.
func (p *process) wasLost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// bury drops the processes in a sandbox that is gone; their sessions can ask why.
func (ps *processes) bury(l *lease) {
	gone := map[sessionKey][]*departed{}
	for _, p := range ps.in(l) {
		why, ended := p.epitaph()
		gone[keyOf(p.request)] = append(gone[keyOf(p.request)], &departed{p.id, p.request.Session, why, ended || p.told.Load()})
	}
	ps.drop(func(p *process) bool { return p.lease == l })
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for key, all := range gone {
		ps.mourn(key, all)
	}
}

// in lists the processes in a sandbox.
func (ps *processes) in(l *lease) (all []*process) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, known := range ps.known {
		for _, p := range known {
			if p.lease == l {
				all = append(all, p)
			}
		}
	}
	return all
}

func (ps *processes) mourn(key sessionKey, all []*departed) {
	if ps.gone == nil || len(ps.gone) >= maxBereaved { // of sessions that never came back
		ps.gone = map[sessionKey][]*departed{}
	}
	all = append(ps.gone[key], all...)
	ps.gone[key] = all[max(0, len(all)-mostEnded):]
}

// missed notes that a process of an earlier run of this sidecar is not gone on with.
func (ps *processes) missed(record ledger.Process, why string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.mourn(sessionKey{record.Caller, record.Request.Session.ID}, []*departed{{record.ID, record.Request.Session, why, record.End != nil}})
}

// epitaph is why the process that a request names is gone; empty if nothing is
// known of it. Its session is told by that.
func (ps *processes) epitaph(req bailiff.Request) string {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, d := range ps.gone[keyOf(req)] {
		if d.id == req.Args.ProcessID && isOf(d.of, req.Session) {
			d.told = true
			return d.why
		}
	}
	return ""
}

// losses words, once, which background processes of a request's session went with
// their sandbox.
func (ps *processes) losses(req bailiff.Request) (sentences []string) {
	for _, p := range ps.list(req) {
		if p.running() || p.told.Load() {
			continue
		}
		if why, ended := p.epitaph(); !ended && why != "" && !p.told.Swap(true) {
			sentences = append(sentences, lostProcess(p.id, why))
		}
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, d := range ps.gone[keyOf(req)] {
		if !d.told && isOf(d.of, req.Session) {
			d.told = true
			sentences = append(sentences, lostProcess(d.id, d.why))
		}
	}
	return sentences
}

func lostProcess(id, why string) string {
	return fmt.Sprintf("Background process %s is gone: %s", id, why)
}

// isOf says whether what is a session's and its user's is this one's.
func isOf(of, s bailiff.Session) bool {
	return of.ID == s.ID && of.Platform == s.Platform && of.UserID == s.UserID
}
