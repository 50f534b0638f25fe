package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// pyNotes are what a program was seen to do.
type pyNotes struct {
	complete bool

	imports, calls, variables, hosts, reads, writes, settings, loses, features, assigns []string

	pieces []pyPiece
	// fetched are the files that hold what came from the network, contents what
	// the program itself writes to files; a file whose content is not known is there
	// as nil.
	fetched  map[string]bool
	contents map[string]*string
	// size is how long all pieces are.
	size int
}

// pyPiece is one shell text, and where it runs.
type pyPiece struct {
	text string
	at   value.Place
}

const maxPyNotes = 4096

func newPyNotes() pyNotes {
	return pyNotes{complete: true, fetched: map[string]bool{}, contents: map[string]*string{}}
}

// note adds to a list, on the last walk only.
func (w *pyWalk) note(list *[]string, entries ...string) {
	if !w.noting {
		return
	}
	for _, e := range entries {
		if e == "" || len(*list) > 0 && (*list)[len(*list)-1] == e {
			continue
		}
		if len(*list) >= maxPyNotes {
			if *list = value.Sorted(*list); len(*list) >= maxPyNotes {
				w.hide()
				return
			}
		}
		*list = append(*list, value.Cut(shown(e), maxPyText))
	}
}

// hide notes that the program does not tell what it runs.
func (w *pyWalk) hide() {
	if w.noting {
		w.notes.complete = false
	}
}

func (w *pyWalk) feature(name string) {
	if !slices.Contains(w.notes.features, name) {
		w.note(&w.notes.features, name)
	}
}

// dynamic notes code that is only known when it runs.
func (w *pyWalk) dynamic() {
	w.feature(value.FeatureDynamicExec)
	w.hide()
}

func (w *pyWalk) imported(name string) {
	w.note(&w.notes.imports, name)
	if top, _, _ := strings.Cut(name, "."); top == "ctypes" || top == "cffi" || top == "_ctypes" {
		w.feature(value.FeatureCtypes)
		w.hide()
	}
}

func (w *pyWalk) noteTexts(vs pyValues) {
	for _, v := range vs {
		if v.shape == pyString {
			w.noteURLs(v.text)
		}
	}
}

// noteURLs notes the host of every URL in a text.
func (w *pyWalk) noteURLs(text string) {
	if !w.noting {
		return
	}
	for range maxPyURLs {
		_, rest, found := strings.Cut(text, "://")
		if !found {
			return
		}
		if host, ok := value.URLHost("x://" + value.Cut(shown(rest), 300)); ok {
			w.note(&w.notes.hosts, host)
		}
		text = rest
	}
}

const maxPyURLs = 200

// escape notes that values were handed to code that is not followed.
func (w *pyWalk) escape(vs pyValues) {
	w.escapeDeep(vs, true, 0)
}

// escapeSome is escape where the environment as a whole is only compared or joined.
func (w *pyWalk) escapeSome(vs pyValues) { w.escapeDeep(vs, false, 0) }

func (w *pyWalk) escapeDeep(vs pyValues, environment bool, depth int) {
	if depth > maxPyDepth || !w.spend() {
		return
	}
	for _, v := range vs {
		switch {
		case v.shape == pySymbol && (v.text == "os.environ" || v.text == "os.environb"):
			if environment {
				w.note(&w.notes.variables, "*")
			}
		case v.shape == pySymbol && dangerous(v.text):
			w.note(&w.notes.calls, v.text)
			w.dynamic()
		case v.shape == pySymbol && effective(v.text):
			w.note(&w.notes.calls, v.text)
		case v.shape == pyCallable:
			w.release(v.function)
		}
		for _, item := range v.items {
			w.escapeDeep(item, environment, depth+1)
		}
	}
}
