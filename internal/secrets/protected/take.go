package protected

import (
	"errors"
	"io/fs"
	"os"
)

// take is how the places are that no other user of the folder has protected already.
func (f *watched) take(patterns []string) (map[string]held, error) {
	fresh, into := map[string]bool{}, map[string]held{}
	for _, pattern := range patterns {
		if f.patterns[pattern] > 0 || fresh[pattern] {
			continue
		}
		fresh[pattern] = true
		all, err := expand(f.root, pattern)
		for _, name := range all {
			if err == nil {
				err = f.takePlace(name, pattern, into, (*state).read)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if fresh[repository] || fresh[repositories] {
		return into, f.takeSettings(fresh, into)
	}
	return into, nil
}

func (f *watched) takePlace(name, pattern string, into map[string]held, read func(*state, *os.Root, string) error) error {
	s, err := look(f.root, name)
	if err == nil {
		err = read(&s, f.root, name)
	}
	into[name] = held{s, pattern}
	return err
}

// takeSettings takes those of repositories, as they are.
func (f *watched) takeSettings(fresh map[string]bool, into map[string]held) error {
	sealed, bare := map[string]bool{}, map[string]bool{}
	s := survey{dir: f.dir, root: f.root, own: true, nested: fresh[repositories], admit: func(name string, fault error) (bool, error) {
		if !errors.Is(fault, fs.ErrPermission) {
			return false, fault
		}
		if info, err := f.root.Lstat(name); err == nil && ownerOf(info) != os.Geteuid() { // else a command could open it
			sealed[name] = true
		}
		return false, nil
	}}
	if err := s.find(); err != nil {
		return err
	}
	for name := range s.settings {
		pattern := settingOwner(name)
		if _, isTaken := into[name]; isTaken || !fresh[pattern] || f.states[name].pattern != "" {
			continue
		}
		err := f.takePlace(name, pattern, into, (*state).sumUp)
		if errors.Is(err, fs.ErrPermission) { // neither a command nor its user's git reads it
			delete(into, name)
			sealed[name], err = true, nil
		}
		if err != nil {
			return err
		}
	}
	if fresh[repositories] {
		for _, name := range s.bare {
			bare[name] = true
		}
		f.bare, f.sealed = bare, sealed
	}
	if fresh[repository] {
		f.linked = nil
		if x, err := readIndex(f.root, repository+"/index"); err == nil {
			f.linked = map[string]bool{}
			for _, e := range x.entries {
				f.linked[e.name] = true
			}
		}
	}
	return nil
}
