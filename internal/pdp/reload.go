package pdp

import (
	"context"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/host/nice"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// load reads the files and puts them in force if they differ from what is and
// nothing is wrong with them. Files that were refused before are tried again
// only after a change of theirs. The caller holds reloading.
func (p *PDP) load(ctx context.Context, touched bool) (faults source.Faults) {
	nice.Run(func() { faults = p.loadHere(ctx, touched) })
	return faults
}

func (p *PDP) loadHere(ctx context.Context, touched bool) source.Faults {
	ctx, end := context.WithCancel(ctx) // ends tests for which no caller waits
	defer end()
	files, faults := p.files()
	content := contentOf(files, faults)
	p.trying.Store(&content)
	now, last := p.inForce.Load(), p.last.Load()
	known := now != nil && content == last.content && (len(last.faults) > 0 || p.rolledBack.Load() != nil || content == now.content)
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

// tryOut puts files in force where they differ from what is. Readable is the revision of what could be parsed.
func (p *PDP) tryOut(ctx context.Context, files []source.File, differ bool) (faults source.Faults, readable string) {
	if !differ {
		return nil, source.Revision(files)
	}
	compile, faults := p.candidate(ctx, files, p.isOwn())
	if len(faults) > 0 {
		return faults, ""
	}
	return p.activate(ctx, files, compile), source.Revision(files)
}

// files are those of the configuration.
func (p *PDP) files() ([]source.File, source.Faults) {
	if p.archive != nil {
		return p.archive.Files()
	}
	files, faults := source.ReadTrusted(p.config.Paths)
	return files, faults.Sorted()
}

// read reads and parses the files of the configuration.
func (p *PDP) read() (*policyset.Set, source.Faults) {
	files, faults := p.files()
	if len(faults) > 0 {
		return nil, faults
	}
	return policyset.Parse(files)
}

// Offer puts another bundle in force, in the place of the one that was given last. If
// anything is wrong with it, which is a [source.Faults], that one stays in its place.
func (p *PDP) Offer(ctx context.Context, text []byte) error {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	before := p.archive
	p.archive = &source.Archive{Name: before.Name, Text: text, Key: before.Key}
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
func contentOf(files []source.File, faults source.Faults) string {
	if len(faults) > 0 {
		return faults.Error()
	}
	return source.Digest(files)
}

// activate puts a new snapshot of files in the place of the old one, unless that is one that an
// operator rolled back to.
func (p *PDP) activate(ctx context.Context, files []source.File, compile compiling) source.Faults {
	s, faults := compile(ctx)
	if ctx.Err() != nil { // other files are there by now, which may be those in force
		return source.Faults{{Message: context.Cause(ctx).Error()}}
	}
	if len(faults) == 0 && p.rolledBack.Load() == nil {
		p.inForce.Store(s)
		p.noteReplaced(s)
		p.saveToHistory(s, files, p.origin())
	}
	return faults
}

// candidate parses files that may come into force, and gives their compiling, with the check that they must pass beyond it. Own are
// those of this program, which cannot differ from those whose tests passed before it was released. Files that are known to have
// passed all checks need none, and are parsed without their tests, as they are where another process runs these, which begins at
// once. Where anything is wrong with them, all that is wrong is told.
func (p *PDP) candidate(ctx context.Context, files []source.File, own bool) (compile compiling, faults source.Faults) {
	if own {
		return released(p.config.Explained), nil
	}
	var verify verifier
	key := p.config.Passes.Files(source.Digest(files), p.config.RequireTests)
	parseSome := policyset.Parse
	switch {
	case p.config.Passes.Has(key):
		parseSome, verify = policyset.ParseProven, noCheck
	case p.config.Untested:
		parseSome, verify = policyset.ParseUntested, noCheck
	case p.config.RequireTests && p.tests != nil:
		parseSome, verify = policyset.ParseUntested, p.testsInProcess(ctx, files)
	}
	next, faults := parseSome(files)
	if len(faults) > 0 {
		if verify != nil {
			_ = verify(ctx, nil) // which ends as soon, for the same faults
		}
		_, faults = policyset.Parse(files)
		return nil, faults
	}
	switch {
	case verify != nil:
	case p.config.RequireTests:
		verify = p.testsHere(next)
	default:
		verify = checksOf(next)
	}
	return compilingOf(next, p.config.Explained, p.noting(key, verify)), nil
}

// noCheck is the check of files that need none.
func noCheck(context.Context, *ast.Compiler) regotest.Outcome { return regotest.Outcome{Lasts: true} }

// noting has tests that pass a check be known to, and the files if all is well.
func (p *PDP) noting(files passes.Key, verify verifier) verifier {
	return func(ctx context.Context, compiled *ast.Compiler) regotest.Outcome {
		ended := verify(ctx, compiled)
		keys := ended.Passed
		if len(ended.Faults) == 0 && ended.Lasts && compiled != nil && ctx.Err() == nil && !p.config.Untested {
			keys = append(keys, files)
		}
		p.keepPassed(keys)
		return ended
	}
}

// keepPassed remembers what passed; without it only the next start is slower.
func (p *PDP) keepPassed(keys []passes.Key) {
	if len(keys) == 0 {
		return
	}
	if err := p.config.Passes.Keep(keys); err != nil {
		p.config.Log.Warn("which tests of the policies passed is not remembered", "error", err)
	}
}

// checksOf are the checks of policies without their tests.
func checksOf(next *policyset.Set) verifier {
	return func(ctx context.Context, compiled *ast.Compiler) regotest.Outcome {
		return regotest.Outcome{Faults: next.Check(ctx, compiled), Lasts: true}
	}
}

// testsHere has this process run the tests.
func (p *PDP) testsHere(next *policyset.Set) verifier {
	return func(ctx context.Context, _ *ast.Compiler) regotest.Outcome {
		p.announceTests()
		return regotest.Require(ctx, next, p.config.Passes)
	}
}

// testsInProcess has another process run the tests, beside what is done here.
func (p *PDP) testsInProcess(ctx context.Context, files []source.File) verifier {
	p.announceTests()
	answer := make(chan regotest.Outcome, 1)
	go func() { answer <- p.tests.Run(ctx, files) }()
	return func(context.Context, *ast.Compiler) regotest.Outcome { return <-answer }
}

// announceTests logs that tests begin: while they run, which may take seconds, a sidecar that starts answers no request.
func (p *PDP) announceTests() {
	until := "no request is answered"
	if p.inForce.Load() != nil {
		until = "the policies of before stay in force"
	}
	p.config.Log.Info("running the tests of the policies that may have changed, which takes up to some seconds, on a busy machine "+
		"up to a minute", "until_then", until)
}

// maxLogged is how many faults of one reload are logged: one conflict can fail
// every test there is. The status has them all.
const maxLogged = 10

// tell logs how a reload ended. While policies are being opened and none are in force
// yet it logs nothing: the caller of [Open] is given the faults.
func (p *PDP) tell(faults source.Faults) {
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

func (p *PDP) refuse(faults source.Faults) {
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
