package protected

import (
	"errors"
	"io/fs"
	"maps"
	"os"
)

// take is how the places are that no other user of the folder has protected already.
func (f *watched) take(patterns []string) (map[string]held, error) {
	fresh, into := map[string]bool{}, map[string]held{}
	tops := topsOf(f.dir)
	for _, pattern := range patterns {
		if f.patterns[pattern] > 0 || fresh[pattern] {
			continue
		}
		fresh[pattern] = true
		all, err := expand(f.root, pattern)
		for _, name := range all {
			switch {
			case err != nil:
			case isAbsent(tops, name):
				into[name] = held{pattern: pattern}
			default:
				err = f.takePlace(name, pattern, into, (*state).read)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if wanted(fresh) != "" {
		if err := f.takeSurveyed(fresh, into); err != nil {
			return nil, err
		}
	}
	return into, f.takeFurther(fresh, into)
}

func (f *watched) takePlace(name, pattern string, into map[string]held, read func(*state, *os.Root, string) error) error {
	s, err := look(f.root, name)
	if err == nil {
		err = read(&s, f.root, name)
	}
	into[name] = held{state: s, pattern: pattern}
	return err
}

// takeSurveyed takes what a survey finds, as it is.
func (f *watched) takeSurveyed(fresh map[string]bool, into map[string]held) error {
	admit := func(_ string, fault error) (bool, error) {
		if !errors.Is(fault, fs.ErrPermission) {
			return false, fault
		}
		return false, nil
	}
	s, err := f.surveyed(fresh, true, admit)
	if err != nil {
		return err
	}
	sealed := maps.Clone(s.sealed)
	for name := range s.settings {
		if err := f.takeSetting(name, settingOwner(name), fresh, sealed, into); err != nil {
			return err
		}
	}
	for name, pattern := range s.named {
		if err := f.takeSetting(name, pattern, fresh, sealed, into); err != nil {
			return err
		}
	}
	if fresh[repositories] {
		f.bare, f.gits = names(s.bare...), s.gits
	}
	if f.sealed == nil {
		f.sealed = map[string]bool{}
	}
	maps.Copy(f.sealed, sealed)
	if fresh[repository] {
		f.takeIndex()
	}
	return nil
}

// takeSetting takes a place that a survey found. What neither a command nor its user may read is let be.
func (f *watched) takeSetting(name, pattern string, fresh, sealed map[string]bool, into map[string]held) error {
	if _, isTaken := into[name]; isTaken || !fresh[pattern] || f.states[name].pattern != "" {
		return nil
	}
	err := f.takePlace(name, pattern, into, (*state).sumUp)
	if errors.Is(err, fs.ErrPermission) {
		delete(into, name)
		sealed[name], err = true, nil
	}
	return err
}

// takeIndex takes git's index, and the names of repositories in it.
func (f *watched) takeIndex() {
	f.linked = nil
	if x, err := readIndex(f.root, repository+"/index"); err == nil {
		f.index, f.linked = x, x.Repositories()
	}
}
