package snapshot

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// expire drops what is older than it is promised, and begins to make room.
func (s *Store) expire() {
	var old []string
	of := map[string]bool{}
	s.mu.Lock()
	for id, e := range s.kept {
		if s.config.Now().Sub(e.Time) <= Lasting {
			continue
		}
		old = append(old, id)
		delete(s.kept, id)
		for _, k := range e.Folders {
			of[k.Folder] = true
		}
	}
	s.mu.Unlock()
	for _, id := range old {
		if err := s.entries.Drop(id); err != nil {
			s.config.Log.Warn("an old snapshot cannot be dropped", "command", id, "error", err)
		}
	}
	for path := range of {
		s.work.Go(func() { s.prune(s.folder(path)) })
	}
}

// prune takes objects away to which none of the trees that it is given leads. Packs are written anew once half of what is in them is
// such.
const prune = `
trees=$(cat)
"$@" prune --expire=now -- $trees
packed=$("$@" count-objects -v | sed -n 's/^in-pack: //p')
if test "$packed" -gt 0; then
	"$@" rev-list --objects --no-object-names $trees >/tmp/needed
	if test "$packed" -gt $((2 * $(wc -l </tmp/needed))); then
		new=$("$@" pack-objects -q --window=0 /store/objects/pack/pack </tmp/needed)
		for idx in /store/objects/pack/pack-*.idx; do
			if test "$idx" != "/store/objects/pack/pack-$new.idx"; then rm -f "$idx" "${idx%.idx}.pack"; fi
		done
		"$@" prune-packed -q
	fi
fi
`

// prune takes out of a folder's store what nothing needs any more.
func (s *Store) prune(f *folder) {
	if f.lock(s.running) != nil {
		return
	}
	defer f.unlock()
	now := f.now()
	if now.Tree == "" {
		return
	}
	roots := append(s.treesOf(f.path), now.Tree)
	f.mu.Lock()
	for _, span := range f.watch.spans { // a command that runs may need them at its end
		roots = append(roots, span.To)
	}
	f.mu.Unlock()
	_, err := s.run(s.running, f, prune, []byte(strings.Join(roots, "\n")))
	if err == nil {
		now.Bytes, err = sizeOf(filepath.Join(f.repo(), "objects"))
	}
	if err == nil {
		err = f.set(now)
	}
	if err != nil && s.running.Err() == nil {
		s.config.Log.Warn("old snapshots of a folder still take room", "folder", f.path, "error", err)
	}
}

// sizeOf is what the files of a folder take on disk.
func sizeOf(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size() + blockSize
		}
		return err
	})
	return sum, err
}

// forget removes the stores of folders that nothing was done in for long.
func (s *Store) forget() {
	all, err := filepath.Glob(filepath.Join(s.config.Dir, "folders", "*", "state.json"))
	for _, at := range all {
		var was state
		text, wrong := os.ReadFile(at)
		if wrong != nil || json.Unmarshal(text, &was) != nil ||
			s.config.Now().Sub(was.Taken) <= 2*Lasting || len(s.treesOf(was.Folder)) > 0 {
			continue
		}
		if wrong := os.RemoveAll(filepath.Dir(at)); wrong != nil {
			err = wrong
		}
	}
	if err != nil {
		s.config.Log.Warn("old snapshots cannot be removed", "error", err)
	}
}
