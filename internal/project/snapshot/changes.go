package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Change is what became of a file between two snapshots.
type Change struct {
	Path string `json:"path"`
	// Kind is "added", "changed", "deleted" or "permissions".
	Kind string `json:"kind"`
	// Added and Removed are lines; both are -1 for what is no text.
	Added   int  `json:"added"`
	Removed int  `json:"removed"`
	Ignored bool `json:"ignored,omitempty"`
	// Whose says in words by whom the change can be; empty if nothing ran in a sandbox meanwhile but the command.
	Whose string `json:"whose,omitempty"`

	was, is file
}

// file is a file of a snapshot; the zero value is none.
type file struct {
	blob string
	mode string // as git has it
	perm string
}

func (f file) isThere() bool { return f.blob != "" }

// The kinds of changes.
const (
	added       = "added"
	changed     = "changed"
	deleted     = "deleted"
	permissions = "permissions"
)

func kindOf(was, is file) string {
	switch {
	case !was.isThere():
		return added
	case !is.isThere():
		return deleted
	case was.blob == is.blob && was.mode == is.mode:
		return permissions
	}
	return changed
}

// between are the changes between two snapshots, by their paths. The folder is locked.
func (s *Store) between(ctx context.Context, f *folder, from, to string) ([]Change, error) {
	if from == to {
		return nil, nil
	}
	said, err := s.run(ctx, f, `read from; read to; "$@" diff-tree -r -z --raw --numstat --no-renames --no-abbrev "$from" "$to"`,
		[]byte(from+"\n"+to+"\n"))
	if err != nil {
		return nil, err
	}
	all, modesDiffer, err := parse(string(said))
	if err != nil {
		return nil, err
	}
	was, err := s.modesOf(ctx, f, from)
	if err != nil {
		return nil, err
	}
	is := was
	if modesDiffer {
		if is, err = s.modesOf(ctx, f, to); err != nil {
			return nil, err
		}
		if err = s.addPermissions(ctx, f, all, was, is, to); err != nil {
			return nil, err
		}
	}
	list := []Change{}
	for name, c := range all {
		c.was.setPerm(name, was)
		c.is.setPerm(name, is)
		if c.was == c.is {
			continue // it moved between what git ignores and what it does not
		}
		c.Path, c.Kind = name, kindOf(c.was, c.is)
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

func (f *file) setPerm(name string, from *modes) {
	if f.mode == "100644" || f.mode == "100755" {
		f.perm = strconv.FormatUint(uint64(from.of(name, f.mode == "100755")), 8)
	}
}

func (s *Store) modesOf(ctx context.Context, f *folder, tree string) (*modes, error) {
	text, err := s.run(ctx, f, `read tree; "$@" cat-file blob "$tree:modes"`, []byte(tree+"\n"))
	if err != nil {
		return nil, err
	}
	return readModes(text)
}

// addPermissions adds the files of which the permissions alone changed.
func (s *Store) addPermissions(ctx context.Context, f *folder, all map[string]*Change, was, is *modes, tree string) error {
	var names []string
	for name := range was.Others {
		if _, still := is.Others[name]; all[name] == nil && (!still || is.Others[name] != was.Others[name]) {
			names = append(names, name)
		}
	}
	for name := range is.Others {
		if _, before := was.Others[name]; all[name] == nil && !before {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	for _, part := range []string{"files", "ignored"} {
		said, err := s.run(ctx, f, `read tree; "$@" ls-tree -r -z "$tree:`+part+`"`, []byte(tree+"\n"))
		if err != nil {
			return err
		}
		for line := range strings.SplitSeq(string(said), "\x00") {
			meta, name, _ := strings.Cut(line, "\t")
			if words := strings.Fields(meta); len(words) == 3 && slices.Contains(names, name) {
				same := file{blob: words[2], mode: words[0]}
				all[name] = &Change{was: same, is: same, Ignored: part == "ignored"}
			}
		}
	}
	return nil
}

// parse reads raw lines of diff-tree, and counts of lines behind them. Files of both parts of a snapshot are one.
func parse(said string) (all map[string]*Change, modesDiffer bool, err error) {
	all = map[string]*Change{}
	fields := strings.Split(said, "\x00")
	for i := 0; i+1 < len(fields); {
		line := fields[i]
		if !strings.HasPrefix(line, ":") { // numstat
			counts := strings.SplitN(line, "\t", 3)
			if len(counts) != 3 {
				return nil, false, fmt.Errorf("git said %.40q of changes", line)
			}
			if part, name, _ := strings.Cut(counts[2], "/"); all[name] != nil && part != "modes" {
				all[name].count(counts[0], counts[1])
			}
			i++
			continue
		}
		words := strings.Fields(strings.TrimPrefix(line, ":"))
		if len(words) != 5 || i+2 >= len(fields) {
			return nil, false, fmt.Errorf("git said %.40q of changes", line)
		}
		part, name, _ := strings.Cut(fields[i+1], "/")
		i += 2
		if name == "" {
			modesDiffer = modesDiffer || part == "modes"
			continue
		}
		c := all[name]
		if c == nil {
			c = &Change{}
			all[name] = c
		}
		c.Ignored = part == "ignored" || c.Ignored
		if strings.Trim(words[2], "0") != "" {
			c.was = file{blob: words[2], mode: words[0]}
		}
		if strings.Trim(words[3], "0") != "" {
			c.is = file{blob: words[3], mode: words[1]}
		}
	}
	return all, modesDiffer, nil
}

func (c *Change) count(more, less string) {
	plus, err := strconv.Atoi(more)
	minus, wrong := strconv.Atoi(less)
	if err != nil || wrong != nil {
		c.Added, c.Removed = -1, -1
		return
	}
	c.Added, c.Removed = c.Added+plus, c.Removed+minus
}

// Changes are what a command changed in each of its folders, in their order; nil where it is not known. What others changed at the same
// time is among it, and named as theirs where that is known.
func (s *Store) Changes(ctx context.Context, e Entry) ([][]Change, error) {
	all := make([][]Change, len(e.Folders))
	for i, k := range e.Folders {
		if k.After == "" {
			continue
		}
		f := s.folder(k.Folder)
		if err := f.lock(ctx); err != nil {
			return nil, err
		}
		list, err := s.between(ctx, f, k.Before, k.After)
		if err == nil {
			err = s.attribute(ctx, f, e, k, list)
		}
		f.unlock()
		if err != nil {
			return nil, err
		}
		if all[i] = list; list == nil {
			all[i] = []Change{}
		}
	}
	return all, nil
}

// mostPatch is how long a patch may be.
const mostPatch = 4 << 20

// Patch is what a command changed as text, without the files that git ignores, which may hold secrets. Of a longer one it is the beginning.
func (s *Store) Patch(ctx context.Context, e Entry) (text string, isCut bool, err error) {
	var patch strings.Builder
	for _, k := range e.Folders {
		if k.After == "" {
			continue
		}
		said, err := s.run(ctx, s.folder(k.Folder), `read from; read to; "$@" cat-file -e "$from:files"; "$@" cat-file -e "$to:files"
			"$@" diff-tree -p --no-renames --no-color --no-ext-diff --no-textconv "$from:files" "$to:files" | head -c `+
			strconv.Itoa(mostPatch+1), []byte(k.Before+"\n"+k.After+"\n"))
		if err != nil {
			return "", false, err
		}
		if patch.Write(said); patch.Len() > mostPatch {
			text = patch.String()[:mostPatch]
			return text[:strings.LastIndexByte(text, '\n')+1], true, nil
		}
	}
	return patch.String(), false, nil
}
