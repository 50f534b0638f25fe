package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// opensFile notes that the content of the files is read that a word names.
func (fs *overlay) opensFile(w word, sc *scope) {
	if w.items == nil {
		fs.opensPath(w, sc)
	}
	for _, one := range w.items {
		fs.opensPath(one, sc)
	}
}

func (fs *overlay) opensPath(w word, sc *scope) {
	if _, _, given := descriptorNumber(w.text); !given {
		fs.opened = add(fs.opened, fs.fileAt(w, sc))
	}
}

// seeksIn notes the files of these names in a folder.
func (fs *overlay) seeksIn(folder word, sc *scope, names ...string) {
	for _, name := range names {
		fs.seeksFile(inFolder(folder, name), sc)
	}
}

// seeksFile notes a file.
func (fs *overlay) seeksFile(file word, sc *scope) {
	if p := fs.fileAt(file, sc); p != "" && fs.spend(1) {
		fs.sought = append(fs.sought, p)
	}
}

// runsFile notes that the file a word names is run, and returns its path.
func (fs *overlay) runsFile(w word, sc *scope) string {
	p := fs.path(w, sc)
	fs.runs(p, fs.fileAt(w, sc))
	if slices.Contains(fs.built, "") && !rooted(w.text) && !fs.holdsText(p) {
		fs.hide()
	}
	if p != "" && !rooted(w.text) && !sc.astray && len(sc.mounts) == 0 {
		for _, folder := range sc.former {
			elsewhere := *sc
			elsewhere.cwd = folder
			fs.runsPath(fs.fileAt(w, &elsewhere))
		}
	}
	return p
}

// runs notes a file that is run, by its path and as it is to be opened.
func (fs *overlay) runs(p, file string) {
	if p == "" {
		return
	}
	fs.runsPath(file)
	if fs.downloaded(p) {
		fs.ran(value.Taint{Fetched: true})
	}
}

// runsPath notes a file that is run. One that a file names in a way which leaves it open
// is only looked for: it may be any.
func (fs *overlay) runsPath(file string) {
	if len(fs.within) > 0 && (strings.Contains(file, "$") || wild(file) || strings.HasPrefix(file, `\`)) {
		fs.sought = append(fs.sought, file)
		return
	}
	fs.files = append(fs.files, file)
	if above := fs.aboveMade(file); above != file {
		fs.files = append(fs.files, above)
	}
}

// runsAny notes files of which the first that is there is run, as part of a project
// like any other.
func (fs *overlay) runsAny(sc *scope, names ...string) {
	for _, name := range names {
		fs.files = append(fs.files, fs.fileAt(known(name), sc))
	}
}

func (fs *overlay) imply(kind value.ImpliedKind, folder word, sc *scope) {
	at := fs.folderAt(folder, sc)
	if folder.source != nil || !folder.known && folder.text == "" {
		at = "$"
	}
	fs.at.Ground.Imply(kind, at)
}

// started is a file that runs beside the rest of the text, which may write it afterwards.
type started struct {
	path string
	run  func(stream)
}

// start notes a file that is run from here on, and what reads it.
func (fs *overlay) start(p string, run func(stream)) {
	if len(fs.started) >= maxFields {
		fs.hide()
		return
	}
	fs.started = append(fs.started, started{p, run})
}

// writtenLate reads a file that was started before the text wrote it.
func (fs *overlay) writtenLate(p string, s stream) {
	if fs.late {
		return
	}
	fs.late = true
	for _, f := range fs.started {
		if f.path == p && fs.spend(1) {
			f.run(s)
		}
	}
	fs.late = false
}
