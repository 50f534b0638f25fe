package setup

import (
	"cmp"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/yamledit"
)

// modulesInside is where Go looks for modules in a sandbox of bubblewrap, whose home is /home.
const modulesInside = "/home/go/pkg"

// modules is the folder in which Go keeps the modules of its user, if the project needs some and no
// row shows it yet. It is the folder above those that "go clean" removes, so that it stays.
func (s *Survey) modules() string {
	if s.Backend != "bubblewrap" || !isThere(filepath.Join(s.Project, "go.mod")) || s.in.Getenv("GOMODCACHE") != "" {
		return ""
	}
	paths := filepath.SplitList(s.in.Getenv("GOPATH"))
	folder := filepath.Join(cmp.Or(append(paths, filepath.Join(s.in.Home, "go"))...), "pkg")
	if !isThere(filepath.Join(folder, "mod")) {
		return ""
	}
	shown := *s
	shown.Project = backends.Resolved(folder)
	if shown.refuseHomes() != nil || shown.refuseOwn() != nil || s.showsModules() {
		return ""
	}
	return shown.Project
}

func (s *Survey) showsModules() bool {
	t, err := s.openTables()
	if err != nil {
		return false
	}
	rows, _ := t.mounts(s.Backend)
	for _, row := range rows {
		if isOfModules(row) {
			return true
		}
	}
	return false
}

// isOfModules says whether a row shows modules rather than a project.
func isOfModules(row any) bool {
	entries, _ := row.(map[string]any)
	return entries["target"] == modulesInside
}

func (s *Survey) appendModules(doc *yamledit.Document, path []string) error {
	return doc.Append(map[string]any{"source": s.Modules, "target": modulesInside, "read_only": true}, path...)
}
