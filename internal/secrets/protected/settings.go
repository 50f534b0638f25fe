package protected

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// compareSettings compares the settings of repositories.
func (c *comparison) compareSettings() {
	fresh := map[string]bool{}
	for _, one := range c.survey.bare {
		c.compareBare(one, fresh)
	}
	all := maps.Clone(c.survey.settings)
	for name, s := range c.states {
		if s.pattern == settingOwner(name) && name != repository {
			all[name] = true
		}
	}
	for _, name := range sortedNames(all) {
		if c.counts(name) && !fresh[name] {
			c.compare(name, settingOwner(name), func(was, now state) bool { return c.survey.accepts(name, was, now) })
		}
	}
}

func sortedNames[T any](set map[string]T) (all []string) {
	for name := range set {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// settingOwner is the pattern for which a setting of a repository is compared.
func settingOwner(name string) string {
	if strings.HasPrefix(name, repository+"/") {
		return repository
	}
	return repositories
}

// counts says whether a setting is compared as such, and now: two of the folder's own repository
// have patterns of their own.
func (c *comparison) counts(name string) bool {
	_, isUnfinished := unfinished[path.Base(path.Dir(name))]
	switch {
	case name == repository+"/config", name == repository+"/config.worktree":
		return false
	case isUnfinished && !c.ended, c.sealed[name]:
		return false
	}
	return c.patterns[settingOwner(name)]
}

// compareBare looks at a repository that has no folder .git. A new one has to be plain, or it is
// none any more: its settings are then added to those that are not compared.
func (c *comparison) compareBare(name string, let map[string]bool) {
	if c.bare[name] || !c.patterns[repositories] {
		return
	}
	plain := true
	var fresh []string
	for place := range c.survey.settings {
		if !isSettingOf(place, name) || c.states[place].kind != absent {
			continue
		}
		fresh = append(fresh, place)
		now, err := c.see(place)
		plain = plain && err == nil && (now.kind == absent || now.links == 1 && now.isWhole() && c.survey.accepts(place, state{}, now))
	}
	if plain {
		c.bare[name] = true
		return
	}
	for _, place := range fresh {
		let[place] = true
	}
	kept, err := setAside(c.root, path.Join(name, "HEAD"))
	c.fail(err)
	c.tell(path.Join(name, "HEAD"), Change{Kept: kept})
}

// isSettingOf says whether a place is one of the settings of a repository, or of its submodules and
// worktrees.
func isSettingOf(place, repository string) bool {
	for folder := path.Dir(place); ; folder = path.Dir(folder) {
		if folder == repository {
			rest := strings.TrimPrefix(place, strings.TrimPrefix(repository+"/", "./"))
			first, _, isBelow := strings.Cut(rest, "/")
			_, isUnfinished := unfinished[first]
			return !isBelow || settingFolders[first] || isUnfinished || first == "modules" || first == "worktrees"
		}
		if folder == "." {
			return false
		}
	}
}

// admit says whether a folder that cannot be listed can be, once its owner may look into it. That
// of another user is let be, since its user's git cannot look into it either, unless it is git's own.
func (c *comparison) admit(name string, fault error) (again bool, err error) {
	switch {
	case c.sealed[name] || !c.ended && !slices.ContainsFunc(strings.Split(name, "/"), isGits):
		return false, nil
	case len(open(c.root, name)) > 0:
		return true, nil
	case !slices.ContainsFunc(strings.Split(name, "/"), isGits) && errors.Is(fault, fs.ErrPermission):
		return false, nil
	}
	return false, unlisted{name, fmt.Errorf("looking into %s: %w", name, fault)}
}
