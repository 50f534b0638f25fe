package protected

import (
	"os"
	"path"
	"slices"
	"strings"
)

// places are the patterns of a folder and the places to which they lead, as questions about one name.
type places struct {
	files, folders map[string]string // with the pattern for which each counts
	globs          []string
	anyDepth       anyDepth
	// above are the folders in which places lie: a link in their stead would lead to others.
	above map[string]bool
}

func placesOf(patterns []string, states map[string]held) places {
	p := places{files: map[string]string{}, folders: map[string]string{}, above: map[string]bool{},
		anyDepth: anyDepthOf(names(patterns...))}
	for _, pattern := range patterns {
		name := strings.TrimSuffix(pattern, "/")
		switch {
		case isAnyDepth(pattern) || pattern == repositories:
			continue
		case strings.Contains(pattern, "*"):
			p.globs = append(p.globs, pattern)
		case isFolder(pattern):
			p.folders[name] = pattern
		default:
			p.files[name] = pattern
		}
		for _, parent := range parents(name) {
			p.above[parent] = true
		}
	}
	for name, s := range states {
		if s.isFurther { // a folder of hooks may not be there yet
			p.files[name], p.folders[name] = s.pattern, s.pattern
		}
	}
	return p
}

// has says whether a file of this name would be in a protected place, or a link there would lead to one.
func (p places) has(name string, isLink bool) bool {
	if p.files[name] != "" || p.folders[name] != "" || isLink && p.above[name] {
		return true
	}
	for _, folder := range parents(name) {
		if p.folders[folder] != "" || p.files[folder] != "" {
			return true
		}
	}
	for _, pattern := range p.globs {
		if stands(pattern, name) || slices.ContainsFunc(parents(name), func(folder string) bool {
			return isFolder(pattern) && stands(pattern, folder)
		}) {
			return true
		}
	}
	folder, base := path.Split(name)
	for part := range strings.SplitSeq(folder, "/") {
		if ofPackages[part] {
			return false
		}
	}
	in := p.anyDepth.folders[path.Base(strings.TrimSuffix(folder, "/"))]
	kind := os.FileMode(0)
	if isLink {
		kind = os.ModeSymlink
	}
	return p.anyDepth.patternOf(in, []byte(base), kind) != ""
}

// IsPlace says whether a file of this name would be in a protected place, or a link there would lead to one.
func (w *Watch) IsPlace(name string, isLink bool) bool {
	for i := range w.parts {
		p := &w.parts[i]
		if rel, ok := strings.CutPrefix(name, p.folder.source+"/"); ok && p.named().has(rel, isLink) {
			return true
		}
	}
	return false
}

func (p *part) named() *places {
	if p.places == nil {
		p.folder.mu.Lock()
		defer p.folder.mu.Unlock()
		all := placesOf(p.patterns, p.held())
		p.places = &all
	}
	return p.places
}

// held are the states of the folder, as they were when the watch ended.
func (p *part) held() map[string]held {
	if p.ended != nil {
		return p.ended
	}
	return p.folder.states
}

// Holds is what a protected place holds that no command may change: the content of a file, or where a link leads. It is false for
// a place that holds neither.
func (w *Watch) Holds(name string) (content []byte, ok bool) {
	for i := range w.parts {
		p := &w.parts[i]
		rel, isIn := strings.CutPrefix(name, p.folder.source+"/")
		if !isIn {
			continue
		}
		if content, ok = p.holds(rel); ok {
			return content, true
		}
	}
	return nil, false
}

func (p *part) holds(name string) (content []byte, ok bool) {
	p.folder.mu.Lock()
	defer p.folder.mu.Unlock()
	states := p.held()
	switch s := states[name]; {
	case s.kind == file && s.isWhole():
		return s.content, true
	case s.kind == link:
		return []byte(s.target), true
	}
	for _, above := range parents(name) {
		if s := states[above]; isShownReadOnly(s) {
			return readIn(p.folder.source, above, name, s.state)
		}
	}
	return nil, false
}

// isShownReadOnly says whether sandboxes show a folder read-only.
func isShownReadOnly(s held) bool { return s.kind == folder && (isFolder(s.pattern) || s.isFurther) }

// readIn reads a file in a folder that is still the one that it was.
func readIn(source, folder, name string, was state) ([]byte, bool) {
	root, err := os.OpenRoot(source)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	if now, err := look(root, folder); err != nil || !was.isSame(now) {
		return nil, false
	}
	now, err := look(root, name)
	switch {
	case err != nil:
		return nil, false
	case now.kind == link:
		return []byte(now.target), true
	case now.kind != file || now.read(root, name) != nil:
		return nil, false
	}
	return now.content, true
}
