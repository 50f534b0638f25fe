package overlay

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Open notes that the content of the files is read that a word names.
func (fs *FS) Open(w word.Word, sc *state.Scope) {
	if w.Items == nil {
		fs.openPath(w, sc)
	}
	for _, one := range w.Items {
		fs.openPath(one, sc)
	}
}

func (fs *FS) openPath(w word.Word, sc *state.Scope) {
	if _, _, given := state.DescriptorNumber(w.Text); !given {
		fs.ContentReads = state.AddPath(fs.ContentReads, fs.FileAt(w, sc))
	}
}

// SeekIn notes the files of these names in a folder.
func (fs *FS) SeekIn(folder word.Word, sc *state.Scope, names ...string) {
	for _, name := range names {
		fs.Seek(word.InFolder(folder, name), sc)
	}
}

// Seek notes a file.
func (fs *FS) Seek(file word.Word, sc *state.Scope) {
	if p := fs.FileAt(file, sc); p != "" && fs.Spend(1) {
		fs.LookUps = append(fs.LookUps, p)
	}
}

// Find notes a file whose text a program runs in its own way, as that of a container's build.
func (fs *FS) Find(file word.Word, sc *state.Scope) {
	fs.Seek(file, sc)
	fs.Modules = append(fs.Modules, fs.FileAt(file, sc))
}

// RunFile notes that the file a word names is run, and returns its path.
func (fs *FS) RunFile(w word.Word, sc *state.Scope) string {
	p := fs.Path(w, sc)
	fs.Run(p, fs.FileAt(w, sc))
	if slices.Contains(fs.builds, "") && !word.IsRooted(w.Text) && !fs.IsWritten(p) {
		fs.Hide()
	}
	if p != "" && !word.IsRooted(w.Text) && !sc.Astray && len(sc.Mounts) == 0 {
		for _, folder := range sc.Fallbacks {
			elsewhere := *sc
			elsewhere.Folder = folder
			fs.RunPath(fs.FileAt(w, &elsewhere))
		}
	}
	return p
}

// Run notes a file that is run, by its path and as it is to be opened.
func (fs *FS) Run(p, file string) {
	if p == "" {
		return
	}
	fs.RunPath(file)
	if fs.IsDownloaded(p) {
		fs.NoteRun(value.Taint{Fetched: true})
	}
}

// RunPath notes a file that is run. One that a file names in a way which leaves it open
// is only looked for: it may be any.
func (fs *FS) RunPath(file string) {
	if len(fs.within) > 0 && (strings.Contains(file, "$") || word.HasWildcard(file) || strings.HasPrefix(file, `\`)) {
		fs.LookUps = append(fs.LookUps, file)
		return
	}
	fs.Files = append(fs.Files, file)
	if above := fs.above(file); above != file {
		fs.Files = append(fs.Files, above)
	}
}

// RunAny notes files of which the first that is there is run, as part of a project
// like any other.
func (fs *FS) RunAny(sc *state.Scope, names ...string) {
	for _, name := range names {
		fs.Files = append(fs.Files, fs.FileAt(word.Of(name), sc))
	}
}

// Imply notes a folder in which a call finds by itself what it runs; "$" is one that the text does not tell.
func (fs *FS) Imply(kind bailiff.ImpliedKind, folder word.Word, sc *state.Scope) {
	if fs.At.Ground == nil {
		return
	}
	at := fs.FolderAt(folder, sc)
	if folder.Source != nil || !folder.Known && folder.Text == "" {
		at = "$"
	}
	fs.At.Ground.Imply(kind, at)
}

// start is a file that runs beside the rest of the text, which may write it afterwards.
type start struct {
	path string
	run  func(word.Stream)
}

// Start notes a file that is run while the text goes on, and what reads it.
func (fs *FS) Start(p string, run func(word.Stream)) {
	if p == "" || fs.Aside == 0 && fs.Rounds == 0 {
		return
	}
	if len(fs.starts) >= word.MaxFields {
		fs.Hide()
		return
	}
	fs.starts = append(fs.starts, start{p, run})
}

// rerun reads a file that was started before the text wrote it.
func (fs *FS) rerun(p string, s word.Stream) {
	if fs.late {
		return
	}
	fs.late = true
	for _, f := range fs.starts {
		if f.path == p && fs.Spend(1) {
			f.run(s)
		}
	}
	fs.late = false
}
