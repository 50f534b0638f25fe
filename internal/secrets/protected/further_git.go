package protected

import (
	"path"
	"path/filepath"
	"strings"

	gitdir "github.com/bailiff-dev/bailiff/internal/project/repository"
)

// readRepositories takes what the settings name of the repository that the folder is, of its submodules, and of its user's git.
func (f *further) readRepositories(pattern string) {
	if now, err := look(f.root, repository); err == nil && now.kind == file {
		f.readElsewhere(pattern)
		return
	}
	all := f.readRepository(repository, ".", pattern)
	for _, module := range f.modules(path.Join(repository, "modules"), 0) {
		folder := ""
		settings(f.text(path.Join(module, "config")), func(key, value string) {
			if key == "core.worktree" {
				folder = f.inside(value, module)
			}
		})
		if folder != "" {
			all = append(all, f.readRepository(module, folder, pattern)...)
		}
	}
	f.folders = all
	f.readUsersConfigs(pattern)
}

// readElsewhere does so where the folder is a linked one, or a submodule, so that its git directory lies elsewhere.
func (f *further) readElsewhere(pattern string) {
	f.folders = []string{"."}
	if p, err := gitdir.PlaceOf(f.source); err == nil {
		f.readOutside(filepath.Join(p.Common, "config"), pattern, 0)
		f.readOutside(filepath.Join(p.Git, "config.worktree"), pattern, 0)
	}
	f.readUsersConfigs(pattern)
}

// readRepository takes what the settings name of one repository with a working folder, and says in which folders git is called by
// them: that one and those that are linked to it.
func (f *further) readRepository(git, folder, pattern string) []string {
	f.folders = []string{folder}
	configs := []string{path.Join(git, "config"), path.Join(git, "config.worktree")}
	linked, _ := list(f.root, path.Join(git, "worktrees"))
	for _, one := range linked {
		own := path.Join(git, "worktrees", one.Name())
		to, ok := strings.CutSuffix(strings.TrimSpace(f.text(path.Join(own, "gitdir"))), "/"+repository)
		if at := f.inside(to, own); ok && at != "" {
			f.folders, configs = append(f.folders, at), append(configs, path.Join(own, "config.worktree"))
		}
	}
	for _, config := range configs {
		f.readConfig(config, pattern, 0)
	}
	return f.folders
}

// modules are the git directories of submodules below a folder. Their names may have parts.
func (f *further) modules(below string, depth int) (all []string) {
	inside, err := list(f.root, below)
	if f.looks++; err != nil || depth > maxLinks || f.looks > maxPlaces {
		return nil
	}
	for _, e := range inside {
		name := path.Join(below, e.Name())
		if !e.IsDir() {
			continue
		}
		if now, err := look(f.root, path.Join(name, "HEAD")); err == nil && now.kind == file {
			all = append(append(all, name), f.modules(path.Join(name, "modules"), depth+1)...)
		} else {
			all = append(all, f.modules(name, depth+1)...)
		}
	}
	return all
}
