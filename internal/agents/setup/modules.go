package setup

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// modulesInside is where Go looks for modules in a sandbox of bubblewrap, whose home is /home.
const modulesInside = "/home/go/pkg"

// modules is the folder in which Go keeps the modules of its user, if the project needs some and no
// row shows it yet. It is the folder above those that "go clean" removes, so that it stays.
func (s *Survey) modules() string {
	if s.Backend != "bubblewrap" || !settings.Exists(filepath.Join(s.Project, "go.mod")) || s.in.Getenv("GOMODCACHE") != "" {
		return ""
	}
	paths := filepath.SplitList(s.in.Getenv("GOPATH"))
	folder := filepath.Join(cmp.Or(append(paths, filepath.Join(s.in.Home, "go"))...), "pkg")
	if !settings.Exists(filepath.Join(folder, "mod")) {
		return ""
	}
	shown := *s
	shown.Project = backends.RealPath(folder)
	if shown.refuseHomes() != nil || shown.refuseOwn() != nil || s.shows(modulesInside) {
		return ""
	}
	return shown.Project
}

// buildCacheInside is where Go has its build cache in a sandbox of bubblewrap.
const buildCacheInside = "/home/.cache/go-build"

// sharedCache is the folder that earlier setups had the sandboxes of all projects show there. It goes on being shown until the
// next setup: since then each project's sandboxes have a build cache of their own.
func (s *Survey) sharedCache() string {
	return filepath.Join(s.in.Home, ".local", "share", "bailiff", "go-build")
}

func (s *Survey) isSharedCache(row any) bool {
	return isAt(row, buildCacheInside) && source(row) == s.sharedCache()
}

// cacheAdvice says what became of that folder.
func (s *Survey) cacheAdvice() (lines []string) {
	if s.shared {
		lines = append(lines, fmt.Sprintf("Sandboxes of each project have a build cache of Go's of their own now. %s is not shown any "+
			"more: remove it, if you like.", s.sharedCache()))
	}
	return lines
}

// shows says whether a row shows a folder in a place inside.
func (s *Survey) shows(target string) bool { return s.shownAt(target) != "" }

// shownAt is what a row shows in a place inside; empty if none does.
func (s *Survey) shownAt(target string) string {
	t, err := s.openTables()
	if err != nil {
		return ""
	}
	rows, _ := t.mounts(s.Backend)
	for _, row := range rows {
		if isAt(row, target) {
			return source(row)
		}
	}
	return ""
}

// isProject says whether a row shows a project rather than what programs need beside it.
func isProject(row any) bool {
	return !isAt(row, modulesInside) && !isAt(row, buildCacheInside) && !isAt(row, authorInside)
}

func isAt(row any, target string) bool {
	entries, _ := row.(map[string]any)
	return entries["target"] == target
}

func (s *Survey) appendModules(doc *yamledit.Document, path []string) error {
	return doc.Append(map[string]any{"source": s.Modules, "target": modulesInside, "read_only": true}, path...)
}
