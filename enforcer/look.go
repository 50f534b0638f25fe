package enforcer

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/contents"
)

// look is what was found in a sandbox of the paths and files of a request, which is judged by it.
type look struct {
	// contents are the files that were read to judge their text.
	contents []bailiff.Content
	// ground is what was found of the paths that the text names once they were looked at, surveyed which those are, and modules
	// what was found of the files that the text loads without naming them.
	ground   bailiff.Ground
	looked   bool
	surveyed []string
	modules  modules
}

// readFiles judges a request once more with the text of the files that it runs, or by which its
// text may come to mean something else, where it is to run on the host: what stands in them is
// part of what the request does. A file that the text names in a way that leaves it open has
// none. Each path that the text names is judged by what it leads to, too.
func (e *Enforcer) readFiles(ctx context.Context, m *judged) error {
	if !e.readsFiles(m) && !e.surveys(m) && !e.seeks(m) && !e.recalls(m) {
		return nil
	}
	if err := e.hold(ctx, m, false); err != nil {
		return err
	}
	held := m.claim()
	err := e.examine(ctx, m)
	m.keepSandbox(held)
	return err
}

// look finds out what the files are that a request's text runs, and judges it
// again with them. With alone nothing changes them until the sandbox is released.
func (e *Enforcer) look(ctx context.Context, m *judged, alone bool) error {
	m.unbound = nil
	if m.isMoving() {
		m.unbound = append(slices.Clone(m.Opens), impliedNames(m.Implied)...)
	}
	depends := m.dependsOnFiles()
	if !depends && !e.surveys(m) && !m.isImplying() && !e.seeks(m) {
		return nil
	}
	if err := e.holdToLook(ctx, m, alone && depends); err != nil {
		return err
	}
	held := m.claim()
	if err := e.examine(ctx, m); err != nil {
		return err
	}
	if m.isImplying() {
		if err := m.bindImplied(ctx); err != nil {
			return err
		}
	}
	switch {
	case !m.dependsOnFiles():
		m.keepSandbox(held)
		return nil
	case alone && !depends: // what a link leads to runs
		m.release()
		return e.look(ctx, m, alone)
	}
	return e.bind(ctx, m, held)
}

// holdToLook holds the sandbox. Before a yes the request ends no others for variables that they may not be
// near: none of these comes in yet.
func (e *Enforcer) holdToLook(ctx context.Context, m *judged, alone bool) error {
	if alone || m.approval != nil || m.held != nil || !m.needsSandbox() || !m.mustBeAlone() {
		return e.hold(ctx, m, alone)
	}
	m.looksOnly = true
	return e.holdNow(ctx, m, false)
}

// examine judges a request by what its paths lead to and by the text of the files that it runs.
func (e *Enforcer) examine(ctx context.Context, m *judged) error {
	m.look = look{}
	if err := e.survey(ctx, m); err != nil {
		return err
	}
	if e.readsFiles(m) {
		if err := e.judgeContents(ctx, m); err != nil {
			return err
		}
	}
	e.recognise(ctx, m)
	e.recall(ctx, m)
	return nil
}

// recognise judges a request by the programs that are known on the host where it runs, besides those that the tables know. What was not
// looked at is not known.
func (e *Enforcer) recognise(ctx context.Context, m *judged) {
	if !e.seeks(m) {
		return
	}
	m.ground.Sought = true
	if m.held != nil {
		on, _ := e.config.Backends[m.Decision.Backend.Name].(backends.Installer)
		found := e.sights.Look(ctx, m.located.Args.Workdir, on, m.held, m.Unknown)
		m.ground.Known, m.ground.Unknown, m.ground.Host = found.Known, found.Unknown, found.Host
	}
	e.rejudge(ctx, m, nil)
	if asked := sightsAsked(m.Decision); len(asked) > 0 {
		m.ground.Asked = asked
		e.rejudge(ctx, m, nil)
		if !slices.Equal(sightsAsked(m.Decision), asked) {
			m.ground.Asked = nil
			e.rejudge(ctx, m, nil)
		}
	}
}

// sightsAsked are the files about whose content a decision asks.
func sightsAsked(d bailiff.Decision) (paths []string) {
	if d.Outcome != bailiff.Ask {
		return nil
	}
	for _, r := range d.Reasons() {
		if r.Rule == bailiff.RunsUnknownProgram && r.Match != "" {
			paths = append(paths, r.Match)
		}
	}
	return paths
}

// seeks says whether a request calls programs that only the host where it runs can tell.
func (e *Enforcer) seeks(m *judged) bool {
	return len(m.Unknown) > 0 && !m.ground.Sought && (m.needsSandbox() || m.isTyped()) && e.runsOnHost(m)
}

// maxSurveys is how often the text of files may tell more paths.
const maxSurveys = 2

// survey judges a request by what the paths that its text names lead to, besides their own names.
func (e *Enforcer) survey(ctx context.Context, m *judged) error {
	for range maxSurveys {
		more := slices.DeleteFunc(slices.Clone(m.Paths), func(p string) bool { return slices.Contains(m.surveyed, p) })
		if !e.surveys(m) || m.looked && len(more) == 0 {
			return nil
		}
		m.surveyed, m.looked = append(m.surveyed, more...), true
		seen, err := m.resolve(ctx, more)
		if err != nil {
			return fmt.Errorf("%w: looking at the paths of the command: %w", errFiles, err)
		}
		if !extend(&m.ground, seen) {
			return nil
		}
		e.rejudge(ctx, m, nil)
	}
	if e.surveys(m) && slices.ContainsFunc(m.Paths, func(p string) bool { return !slices.Contains(m.surveyed, p) }) && !m.ground.Unseen {
		m.ground.Unseen = true
		e.rejudge(ctx, m, nil)
	}
	return nil
}

// judgeContents reads the files that the text runs, and those that the text in them runs, and
// judges the request by them.
func (e *Enforcer) judgeContents(ctx context.Context, m *judged) error {
	left := contents.Whole()
	for round := range contents.MaxRounds + 1 {
		if round == contents.MaxRounds {
			left = contents.Budget{}
		}
		if err := m.findModules(ctx); err != nil {
			return err
		}
		more, err := m.unread(ctx, &left)
		if err != nil {
			return err
		}
		hides := m.hidesModules()
		if len(more) == 0 && !hides {
			return nil
		}
		m.contents, m.ground.Unseen = append(m.contents, more...), m.ground.Unseen || hides
		e.rejudge(ctx, m, nil)
		if err := e.survey(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// unread reads those of a request's files that were not read yet: those that its text runs, and
// those on which it may depend.
func (m *judged) unread(ctx context.Context, left *contents.Budget) (more []bailiff.Content, err error) {
	for paths := slices.Concat(m.Files, m.Opens, m.modules.files); len(paths) > 0; paths = paths[1:] {
		path := paths[0]
		known := func(c bailiff.Content) bool { return c.Path == path }
		if slices.ContainsFunc(m.contents, known) || slices.ContainsFunc(more, known) {
			continue
		}
		content, matches, err := left.Find(ctx, m.held, m.located.Args.Workdir, path)
		if err != nil {
			return nil, fmt.Errorf("%w: reading those that the command runs: %w", errFiles, err)
		}
		paths = append(paths, matches...)
		left.Take(content)
		more = append(more, content)
	}
	return more, nil
}

// bind judges a request with what the files are on which it depends.
func (e *Enforcer) bind(ctx context.Context, m *judged, held bailiff.Claim) error {
	files, err := m.held.Digest(ctx, m.located.Args.Workdir, m.Files)
	if err != nil {
		return fmt.Errorf("%w: reading those that the command runs: %w", errFiles, err)
	}
	if path := contents.Changed(m.contents, files); path != "" {
		return fmt.Errorf("%w: %s changed while it was read; send the command again", errFiles, path)
	}
	opened, unbound := m.dependencies(ctx)
	m.files, m.unbound = slices.Concat(files, opened), distinct(m.unbound, unbound)
	e.rejudge(ctx, m, files)
	m.keepSandbox(held)
	return nil
}

// rejudge judges a request by what was found of its files, and by their content where an approval is to hold it.
func (e *Enforcer) rejudge(ctx context.Context, m *judged, files []bailiff.File) {
	m.replaceJudgement(e.weigh(ctx, m, found{files: files, contents: m.contents, ground: m.ground}))
}

// keepSandbox denies a request for which the policies want another sandbox than the one that
// it holds, now that they know the files that it runs.
func (m *judged) keepSandbox(held bailiff.Claim) {
	now := m.claim()
	now.Decision.Approval, now.Decision.Limits = held.Decision.Approval, held.Decision.Limits
	now.Files, now.Unbound, now.Ground = held.Files, held.Unbound, held.Ground
	if drift := now.Drift(held); drift != "" && m.Decision.Outcome != bailiff.Deny {
		m.Decision = deny(m.Decision, bailiff.RuleVoid,
			"The policies want another sandbox for the request once they know the files that it runs: "+drift+" would change.")
	}
}

// readsFiles says whether the files of a request are read.
func (e *Enforcer) readsFiles(m *judged) bool {
	return (len(m.Files)+len(m.Opens) > 0 || m.importsModules()) && m.needsSandbox() && e.runsOnHost(m)
}

// surveys says whether it is looked for what a request's paths lead to: where nothing keeps them inside of a
// sandbox. A question is about the working folder, too.
func (e *Enforcer) surveys(m *judged) bool {
	return (m.needsSandbox() || m.isTyped()) && (len(m.Paths) > 0 || m.Decision.Outcome == bailiff.Ask) && e.runsOnHost(m)
}

// runsOnHost says whether a request that may run does so where nothing is isolated.
func (e *Enforcer) runsOnHost(m *judged) bool {
	backend := e.config.Backends[m.Decision.Backend.Name]
	return m.Decision.Outcome != bailiff.Deny && backend != nil && !backend.Isolated()
}

// isTyped says that the request hands input to a process that is there.
func (p placed) isTyped() bool { return p.process != nil && p.located.Args.IsTyped() }

// dependsOnFiles says that the text runs files, or may depend on some whose content stands.
func (m *judged) dependsOnFiles() bool {
	return len(m.Files) > 0 || len(m.Opens) > 0 && !m.isMoving()
}
