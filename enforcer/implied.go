package enforcer

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/implied"
)

// importsModules says that a program of the text may take files for modules of its library.
func (m *judged) importsModules() bool {
	return slices.ContainsFunc(m.Implied, func(at bailiff.Implied) bool { return at.Kind == bailiff.ImpliedModules })
}

// findModules looks for the files that programs of the text take for modules of their library. The text depends on them.
func (m *judged) findModules(ctx context.Context) (err error) {
	m.modules = nil
	if !m.importsModules() {
		return nil
	}
	if m.modules, err = implied.Modules(ctx, m.held, m.located.Args.Workdir, m.Implied); err != nil {
		return fmt.Errorf("%w: looking for modules that the command may load: %w", errFiles, err)
	}
	return nil
}

// isImplying says that its programs run what the text does not name, and which stands while nothing else of the session runs.
func (m *judged) isImplying() bool { return len(m.Implied) > 0 && !m.isMoving() }

// impliedNames say what that is, where an approval cannot hold it.
func impliedNames(all []bailiff.Implied) (names []string) {
	for _, at := range all {
		names = append(names, "what "+string(at.Kind)+" finds in "+at.Folder)
	}
	return names
}

// bindImplied finds out what the programs of the text run by themselves, for an approval to hold it.
func (m *judged) bindImplied(ctx context.Context) error {
	if err := m.findModules(ctx); err != nil {
		return err
	}
	for _, file := range m.modules {
		if !slices.Contains(m.Files, file) && !slices.Contains(m.Opens, file) {
			m.Opens = append(m.Opens, file)
		}
	}
	settings := implied.Settings(ctx, m.held, m.located.Args.Workdir, m.Implied)
	folders := implied.Folders(ctx, m.held, m.located.Args.Workdir, m.Implied)
	m.ground.Settings = append(settings.Bound, folders.Bound...)
	m.unbound = append(settings.Unbound, folders.Unbound...)
	return ctx.Err()
}
