package pdp

import (
	"context"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
)

// load reads the files and puts them in force if they differ from what is and
// nothing is wrong with them. Files that were refused before are tried again
// only after a change of theirs. The caller holds reloading.
func (p *PDP) load(ctx context.Context, touched bool) Faults {
	files, faults := p.files()
	content := contentOf(files, faults)
	now, last := p.inForce.Load(), p.last.Load()
	known := now != nil && content == last.content
	if known && (len(last.faults) == 0 || !touched) {
		p.last.Store(&attempt{at: time.Now(), faults: last.faults, content: content, revision: last.revision})
		return last.faults
	}
	readable := ""
	if len(faults) == 0 {
		faults, readable = p.tryOut(ctx, files, now == nil || content != now.content)
	}
	if ctx.Err() == nil {
		p.last.Store(&attempt{at: time.Now(), faults: faults, content: content, revision: readable})
		p.tell(faults)
	}
	return faults
}

// tryOut parses files, and puts them in force where they differ from what is. Readable is the revision of what could be parsed.
func (p *PDP) tryOut(ctx context.Context, files []file, differ bool) (faults Faults, readable string) {
	parse := p.parse
	if p.isOwn() {
		parse = parseReleased
	}
	next, faults := parse(files)
	if len(faults) > 0 {
		return faults, ""
	}
	if differ {
		faults = p.activate(ctx, next)
	}
	return faults, revision(files)
}

// files are those of the configuration, which are parsed only where they are not those that were read before.
func (p *PDP) files() ([]file, Faults) {
	if p.archive != nil {
		return p.archive.files()
	}
	files, faults := readTrusted(p.config.Paths)
	return files, faults.sorted()
}

// read reads and parses the files of the configuration.
func (p *PDP) read() (*parsed, Faults) {
	files, faults := p.files()
	if len(faults) > 0 {
		return nil, faults
	}
	return parse(files)
}

// Offer puts another bundle in force, in the place of the one that was given last. If
// anything is wrong with it, which is a [Faults], that one stays in its place.
func (p *PDP) Offer(ctx context.Context, text []byte) error {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	before := p.archive
	p.archive = &Archive{before.Name, text, before.Key}
	if faults := p.load(ctx, true); len(faults) > 0 {
		p.archive = before
		return faults
	}
	return nil
}

// isOwn says whether the policies are those of this program.
func (p *PDP) isOwn() bool { return p.archive == nil && len(p.config.Paths) == 0 }

// contentOf tells one attempt from another: by what was read, or by what was
// wrong where nothing could be.
func contentOf(files []file, faults Faults) string {
	if len(faults) > 0 {
		return faults.Error()
	}
	return digest(files)
}

// activate puts a new snapshot in the place of the old one, unless that is one that an
// operator rolled back to.
func (p *PDP) activate(ctx context.Context, next *parsed) Faults {
	s, faults := newSnapshot(ctx, next, p.config.Explained, p.verification(next))
	if len(faults) == 0 && p.rolledBack.Load() == nil {
		p.inForce.Store(s)
		p.noteReplaced(s)
		p.saveToHistory(s, next, p.origin())
	}
	return faults
}

// verification is the check that policies must pass beyond compiling. The embedded ones
// cannot differ from those whose tests passed before this program was released.
func (p *PDP) verification(next *parsed) verifier {
	if p.isOwn() {
		return func(context.Context, *ast.Compiler) Faults { return nil }
	}
	return p.fullVerification(next)
}

// fullVerification is that of policies which are not embedded in this program.
func (p *PDP) fullVerification(next *parsed) verifier {
	switch {
	case p.testsApart():
		return p.announced(next.runTestsBy(p.config.TestCommand))
	case p.config.RequireTests:
		return p.announced(next.runTests)
	}
	return next.check
}

// announced logs that tests begin: while they run, which takes seconds, a sidecar that starts answers no request.
func (p *PDP) announced(tests func(context.Context) Faults) verifier {
	return func(ctx context.Context, _ *ast.Compiler) Faults {
		until := "no request is answered"
		if p.inForce.Load() != nil {
			until = "the policies of before stay in force"
		}
		p.config.Log.Info("running the tests of the policies, which takes seconds, on a busy machine up to a minute", "until_then", until)
		return tests(ctx)
	}
}

func (p *PDP) testsApart() bool { return p.config.RequireTests && p.config.TestCommand != nil }

// parse parses files, without their tests where those are run by another process. Where anything is wrong, all that is wrong
// is told.
func (p *PDP) parse(files []file) (*parsed, Faults) {
	if p.testsApart() {
		if next, faults := parseUntested(files); len(faults) == 0 {
			return next, nil
		}
	}
	return parse(files)
}

// maxLogged is how many faults of one reload are logged: one conflict can fail
// every test there is. The status has them all.
const maxLogged = 10

// tell logs how a reload ended. While policies are being opened and none are in force
// yet it logs nothing: the caller of [Open] is given the faults.
func (p *PDP) tell(faults Faults) {
	switch {
	case p.inForce.Load() == nil:
	case len(faults) > 0:
		p.refuse(faults)
	case p.rolledBack.Load() != nil:
		p.config.Log.Info("the policies in the files are sound; they are in force when the rollback ends", "revision",
			p.last.Load().revision)
	default:
		p.announce()
	}
}

func (p *PDP) refuse(faults Faults) {
	for _, f := range faults[:min(len(faults), maxLogged)] {
		p.config.Log.Error("new policies are not in force", "file", f.File, "line", f.Line, "fault", f.Message)
	}
	if more := len(faults) - maxLogged; more > 0 {
		p.config.Log.Error("new policies are not in force, for more faults than these", "more", more)
	}
	if p.config.Observer != nil {
		p.config.Observer.Reloaded(false, p.Revision())
	}
}

func (p *PDP) announce() {
	s := p.inForce.Load()
	p.config.Log.Info("policies are in force", "revision", s.revision, "files", len(s.files))
	if p.config.Observer != nil {
		p.config.Observer.Reloaded(true, s.revision)
	}
}
