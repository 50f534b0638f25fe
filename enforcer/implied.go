package enforcer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/implied"
)

// importsModules says that a program of the text may take files for modules of its library.
func (m *judged) importsModules() bool {
	return slices.ContainsFunc(m.Implied, func(at bailiff.Implied) bool { return at.Kind == bailiff.ImpliedModules })
}

// modules are files that programs of a text take for modules of their library, by the folders that they are looked for in: hidden
// are those that could not be looked at to their end.
type modules struct{ files, folders, hidden []string }

// findModules looks for such files, on which the text depends, in the folders that the text, or what was read of it since, tells.
func (m *judged) findModules(ctx context.Context) error {
	for _, at := range m.Implied {
		if at.Kind != bailiff.ImpliedModules || slices.Contains(m.modules.folders, at.Folder) {
			continue
		}
		files, all, err := implied.Modules(ctx, m.held, m.located.Args.Workdir, at.Folder)
		if err != nil {
			return fmt.Errorf("%w: looking for modules that the command may load: %w", errFiles, err)
		}
		m.modules.files, m.modules.folders = append(m.modules.files, files...), append(m.modules.folders, at.Folder)
		if !all {
			m.modules.hidden = append(m.modules.hidden, at.Folder)
		}
	}
	return nil
}

// hidesModules says that a program of the text may load files that nothing tells.
func (m *judged) hidesModules() bool {
	return m.importsModules() && (len(m.modules.hidden) > 0 || !m.AllPaths) && !m.ground.Unseen
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

// inModules stands before a folder of modules that is named.
const inModules = "modules in "

// moduleNames say which folders of modules a text has.
func moduleNames(all []bailiff.Implied) (names []string) {
	for _, at := range all {
		if at.Kind == bailiff.ImpliedModules && !strings.Contains(at.Folder, "$") {
			names = append(names, inModules+at.Folder)
		}
	}
	return names
}

// bindImplied finds out what the programs of the text run by themselves, for an approval to hold it.
func (m *judged) bindImplied(ctx context.Context) error {
	if err := m.findModules(ctx); err != nil {
		return err
	}
	for _, file := range m.modules.files {
		if !slices.Contains(m.Files, file) && !slices.Contains(m.Opens, file) {
			m.Opens = append(m.Opens, file)
		}
	}
	settings := implied.Settings(ctx, m.held, m.located.Args.Workdir, m.Implied)
	folders := implied.Folders(ctx, m.held, m.located.Args.Workdir, m.Implied)
	m.ground.Settings = append(settings.Bound, folders.Bound...)
	m.unbound = slices.Concat(m.unbound, settings.Unbound, folders.Unbound)
	for _, folder := range m.modules.hidden {
		m.unbound = append(m.unbound, inModules+folder)
	}
	return ctx.Err()
}
