package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/python/unpacked"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// notes are what a program was seen to do.
type notes struct {
	complete bool

	imports, calls, variables, hosts, reads, writes, touches, settings, loses, features, assigns, folders, members, loads []string

	pieces []piece
	// supposals are the shell texts that calls may start which nothing describes.
	supposals []supposal
	// fetched are the files that hold what came from the network, contents what
	// the program itself writes to files; a file whose content is not known is there
	// as nil.
	fetched map[string]bool
	// decoded are those that hold what was encoded, foreign copies of files from outside the project.
	decoded, foreign map[string]bool
	contents         map[string]*string
	unpacked         unpacked.Folders
	// full are the lists that hold as much as they may.
	full map[*[]string]bool
	// size is how long all pieces are.
	size int
}

// piece is one shell text, and where it runs.
type piece struct {
	text string
	at   value.Place
}

const maxNotes = 4096

func newNotes() notes {
	return notes{complete: true, fetched: map[string]bool{}, decoded: map[string]bool{}, foreign: map[string]bool{},
		contents: map[string]*string{}, full: map[*[]string]bool{}}
}

// note adds to a list, on the last walk only.
func (w *walk) note(list *[]string, entries ...string) {
	if !w.noting {
		return
	}
	for _, e := range entries {
		if e == "" || len(*list) > 0 && (*list)[len(*list)-1] == e {
			continue
		}
		if len(*list) >= maxNotes {
			if w.notes.full[list] {
				return
			}
			if *list = value.Sorted(*list); len(*list) >= maxNotes {
				w.notes.full[list] = true
				w.hide()
				return
			}
		}
		*list = append(*list, value.Cut(object.Shown(e), maxText))
	}
}

// hide notes that the program does not tell what it runs.
func (w *walk) hide() {
	if w.noting {
		w.notes.complete = false
	}
}

func (w *walk) feature(name string) {
	if !slices.Contains(w.notes.features, name) {
		w.note(&w.notes.features, name)
	}
}

// dynamic notes code that is only known when it runs.
func (w *walk) dynamic() {
	w.feature(value.FeatureDynamicExec)
	w.hide()
}

func (w *walk) imported(name string) {
	w.note(&w.notes.imports, name)
	w.runsModule(name)
	if top, _, _ := strings.Cut(name, "."); top == "ctypes" || top == "cffi" || top == "_ctypes" {
		w.feature(value.FeatureCtypes)
		w.hide()
	}
}

func (w *walk) noteTexts(vs object.Objects) {
	for _, v := range vs {
		if v.Shape == object.IsString {
			w.noteURLs(v.Text)
		}
	}
}

// noteURLs notes the host of every URL in a text.
func (w *walk) noteURLs(text string) {
	if !w.noting {
		return
	}
	for range maxURLs {
		_, rest, found := strings.Cut(text, "://")
		if !found {
			return
		}
		if host, ok := value.URLHost("x://" + value.Cut(object.Shown(rest), 300)); ok {
			w.note(&w.notes.hosts, host)
		}
		text = rest
	}
}

const maxURLs = 200

// escape notes that values were handed to code that is not followed.
func (w *walk) escape(vs object.Objects) {
	w.escapeDeep(vs, true, 0)
}

// escapeSome is escape where the environment as a whole is only compared or joined.
func (w *walk) escapeSome(vs object.Objects) { w.escapeDeep(vs, false, 0) }

func (w *walk) escapeDeep(vs object.Objects, environment bool, depth int) {
	if depth > syntax.MaxDepth || !w.spend() {
		return
	}
	for _, v := range vs {
		switch {
		case v.Shape == object.IsSymbol && (v.Text == "os.environ" || v.Text == "os.environb"):
			if environment {
				w.note(&w.notes.variables, "*")
			}
		case v.Shape == object.IsSymbol && library.Dangerous(v.Text):
			w.note(&w.notes.calls, v.Text)
			w.dynamic()
		case v.Shape == object.IsSymbol && library.Effective(v.Text):
			w.note(&w.notes.calls, v.Text)
		case v.Shape == object.IsCallable:
			w.release(v.Function)
		}
		for _, item := range v.Items {
			w.escapeDeep(item, environment, depth+1)
		}
	}
}
