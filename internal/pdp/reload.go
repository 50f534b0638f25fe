package pdp

import (
	"context"
	"time"
)

// load reads the files and puts them in force if they differ from what is and
// nothing is wrong with them. Files that were refused before are tried again
// only when somebody touched them. The caller holds reloading.
func (p *PDP) load(ctx context.Context, touched bool) Faults {
	next, faults := load(readTrusted, p.config.Paths)
	content := contentOf(next, faults)
	now, last := p.inForce.Load(), p.last.Load()
	known := now != nil && content == last.content
	if known && (len(last.faults) == 0 || !touched) {
		p.last.Store(&attempt{at: time.Now(), faults: last.faults, content: content})
		return last.faults
	}
	if len(faults) == 0 && (now == nil || content != now.content) {
		faults = p.enforce(ctx, next)
	}
	if ctx.Err() == nil {
		p.last.Store(&attempt{at: time.Now(), faults: faults, content: content})
		p.tell(faults)
	}
	return faults
}

// contentOf tells one attempt from another: by what was read, or by what was
// wrong where nothing could be.
func contentOf(p *parsed, faults Faults) string {
	if p == nil {
		return faults.Error()
	}
	return digest(p.files)
}

// enforce puts a new snapshot in the place of the old one.
func (p *PDP) enforce(ctx context.Context, next *parsed) Faults {
	s, faults := newSnapshot(ctx, next, p.proof(next))
	if len(faults) == 0 {
		p.inForce.Store(s)
	}
	return faults
}

// proof is what must hold of policies beyond that they compile. The embedded ones
// cannot differ from those whose tests passed before this program was released.
func (p *PDP) proof(next *parsed) func(context.Context) Faults {
	switch {
	case len(p.config.Paths) == 0:
		return func(context.Context) Faults { return nil }
	case p.config.RequireTests:
		return next.prove
	}
	return next.check
}

// maxLogged is how many faults of one reload are logged: one conflict can fail
// every test there is. The status has them all.
const maxLogged = 10

// tell is silent at start-up, where faults go to whoever opens.
func (p *PDP) tell(faults Faults) {
	s := p.inForce.Load()
	if s == nil {
		return
	}
	for _, f := range faults[:min(len(faults), maxLogged)] {
		p.config.Log.Error("new policies are not in force", "file", f.File, "line", f.Line, "fault", f.Message)
	}
	if more := len(faults) - maxLogged; more > 0 {
		p.config.Log.Error("new policies are not in force, for more faults than these", "more", more)
	}
	if len(faults) == 0 {
		p.config.Log.Info("policies are in force", "revision", s.revision, "files", len(s.files))
	}
	if p.config.Observer != nil {
		p.config.Observer.Reloaded(len(faults) == 0, s.revision)
	}
}
