package protected

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxLinks is how many links are followed from one place, and how many folders deep links are looked for in it.
	maxLinks = 8
	// maxPlaces is how many places are looked at for it.
	maxPlaces = 2000
	// maxIncluded is how deep settings of git may include others: git's own bound.
	maxIncluded = 10
)

// further are the places by which programs start though no pattern names them: where the links lead that the user has in protected
// places, and what the settings of the repository name. Each is in the folder, and counts for the pattern that led to it.
type further struct {
	root   *os.Root
	source string
	places map[string]string
	looks  int
	// folders are those in which git is called by the settings that are read: paths in settings start there.
	folders []string
}

func furtherOf(root *os.Root, source string, patterns []string) map[string]string {
	f := further{root: root, source: source, places: map[string]string{}}
	var tops map[string]bool
	if dir, err := root.Open("."); err == nil {
		tops = topsOf(dir)
		_ = dir.Close()
	}
	for _, pattern := range patterns {
		all, err := expand(root, pattern)
		for _, name := range all {
			if err == nil && !isAbsent(tops, name) {
				f.follow(name, pattern, 0)
			}
		}
	}
	for _, pattern := range []string{repository, repository + "/config"} {
		if slices.Contains(patterns, pattern) {
			f.readRepositories(pattern)
			break
		}
	}
	return f.places
}

// follow takes what a place leads to, if it is a link, and what links in it do, if it is a folder.
func (f *further) follow(name, pattern string, depth int) {
	now, err := look(f.root, name)
	if f.looks++; err != nil || depth > maxLinks || f.looks > maxPlaces {
		return
	}
	switch now.kind {
	case folder:
		inside, err := list(f.root, name)
		for _, e := range inside {
			if err == nil && !ofPackages[e.Name()] && (e.IsDir() || e.Type()&fs.ModeSymlink != 0) {
				f.follow(path.Join(name, e.Name()), pattern, depth+1)
			}
		}
	case link:
		if to := f.inside(now.target, path.Dir(name)); to != "" && !isAround(to, name) && f.add(to, pattern) {
			f.follow(to, pattern, depth+1)
		}
	}
}

// add takes a place, and says whether it is new.
func (f *further) add(name, pattern string) bool {
	_, isThere := f.places[name]
	if !isThere {
		f.places[name] = pattern
	}
	return !isThere
}

// isAround says whether a folder is that in which a place is.
func isAround(folder, name string) bool { return strings.HasPrefix(name+"/", folder+"/") }

// inside is a path from a folder of the source as a name in it, empty if it is not in it.
func (f *further) inside(to, from string) string {
	if path.IsAbs(to) {
		rel, err := filepath.Rel(f.source, to)
		if err != nil {
			return ""
		}
		to, from = filepath.ToSlash(rel), "."
	}
	if to = path.Join(from, to); to == "." || !fs.ValidPath(to) {
		return ""
	}
	return to
}

var (
	sectionLine = regexp.MustCompile(`^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)$`)
	// programKeys are the settings of which git runs the value, gitconfig's section and key in small letters.
	programKeys = regexp.MustCompile(`^(core\.(fsmonitor|sshcommand|editor|pager|askpass|gitproxy)|sequence\.editor|diff\.external|` +
		`(filter\..*\.(clean|smudge|process)|diff\..*\.(textconv|command)|merge\..*\.driver)|` +
		`gpg(\..*)?\.program|credential(\..*)?\.helper|alias\..*|interactive\.difffilter|uploadpack\.packobjectshook)$`)
)

// readConfig takes what settings of git name: the folder of hooks, other settings, and programs.
func (f *further) readConfig(name, pattern string, depth int) {
	if depth <= maxIncluded {
		f.takeValues(name, f.text(name), pattern, depth)
	}
}

// text is the content of a small file, empty if it cannot be read.
func (f *further) text(name string) string {
	now, err := look(f.root, name)
	if err != nil || now.kind != file || now.read(f.root, name) != nil {
		return ""
	}
	return string(now.content)
}

// readUsersConfigs takes what the user's settings of git for all repositories name in this one.
func (f *further) readUsersConfigs(pattern string) {
	home, err := os.UserHomeDir()
	if err != nil {
		return
	}
	folder := os.Getenv("XDG_CONFIG_HOME")
	if folder == "" {
		folder = filepath.Join(home, ".config")
	}
	for _, name := range []string{"/etc/gitconfig", filepath.Join(folder, "git", "config"), filepath.Join(home, ".gitconfig")} {
		f.readOutside(name, pattern, 0)
	}
}

// readOutside reads settings that lie outside of the folder.
func (f *further) readOutside(name, pattern string, depth int) {
	file, err := os.Open(name)
	if err != nil || depth > maxIncluded {
		return
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() <= maxFile {
		if text, err := io.ReadAll(file); err == nil {
			f.takeValues(name, string(text), pattern, depth)
		}
	}
}

// takeValues takes what a text of settings names.
func (f *further) takeValues(config, text, pattern string, depth int) {
	settings(text, func(key, value string) { f.takeValue(config, key, value, pattern, depth) })
}

// settings calls do for each setting of a text: gitconfig's section and key in small letters, and the value.
func settings(text string, do func(key, value string)) {
	section := ""
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		line = strings.TrimSpace(line)
		if head := sectionLine.FindStringSubmatch(line); head != nil {
			section, line = strings.ToLower(head[1]), strings.TrimSpace(head[3])
			if head[2] != "" {
				section += "." + head[2]
			}
		}
		key, value, ok := strings.Cut(line, "=")
		if key = section + "." + strings.ToLower(strings.TrimSpace(key)); ok {
			do(key, inHome(strings.ReplaceAll(strings.TrimSpace(value), `"`, "")))
		}
	}
}

// inHome is a value in which "~/" stands for the user's home.
func inHome(value string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return value
}

func (f *further) takeValue(config, key, value, pattern string, depth int) {
	switch {
	case key == "core.hookspath":
		for _, folder := range f.folders {
			if to := f.inside(value, folder); to != "" && f.add(to, pattern) {
				f.follow(to, pattern, 0)
			}
		}
	case key == "include.path", strings.HasPrefix(key, "includeif.") && strings.HasSuffix(key, ".path"):
		f.include(config, value, pattern, depth)
	case programKeys.MatchString(key):
		for _, word := range strings.Fields(value) {
			f.takeProgram(strings.TrimPrefix(strings.Trim(word, `'`), "!"), pattern)
		}
	}
}

// takeProgram takes a word of a command that is a file of a folder in which git runs it.
func (f *further) takeProgram(word, pattern string) {
	for _, folder := range f.folders {
		to := f.inside(word, folder)
		if now, err := look(f.root, to); to != "" && err == nil && (now.kind == file || now.kind == link) && f.add(to, pattern) {
			f.follow(to, pattern, 0)
		}
	}
}

// include takes settings that others include, and what they name.
func (f *further) include(config, value, pattern string, depth int) {
	if path.IsAbs(config) && !path.IsAbs(value) {
		value = path.Join(path.Dir(config), value)
	}
	to := f.inside(value, path.Dir(config))
	switch {
	case to != "":
		if f.add(to, pattern) {
			f.readConfig(to, pattern, depth+1)
		}
	case path.IsAbs(value):
		f.readOutside(value, pattern, depth+1)
	}
}

// Further are the places of a source that count beside those that patterns name, folders with a slash at the end: where links in
// protected places lead, and what git's settings name.
func Further(source string, patterns []string) (all []string) {
	root, err := os.OpenRoot(source)
	if err != nil {
		return nil
	}
	defer root.Close()
	for name := range furtherOf(root, source, patterns) {
		if now, err := look(root, name); err == nil && now.kind == folder {
			name += "/"
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// takeFurther takes places to which others lead.
func (f *watched) takeFurther(fresh map[string]bool, into map[string]held) error {
	for name, pattern := range furtherOf(f.root, f.source, sortedNames(fresh)) {
		_, isTaken := into[name]
		if _, isHeld := f.states[name]; isTaken || isHeld {
			continue
		}
		if err := f.takePlace(name, pattern, into, (*state).sumUp); err != nil {
			return err
		}
		into[name] = held{state: into[name].state, pattern: pattern, isFurther: true}
	}
	return nil
}
