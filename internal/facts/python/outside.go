package python

import (
	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
)

// A name that nothing in a program binds and that Python does not know is no fault
// where programs run one after another in one interpreter: an earlier one has set
// it, to any value. So a program that uses one does not tell what it does. In an
// interpreter that has run nothing before such a name is an error.

// outside notes the use of a name that the program itself does not explain.
func (w *walk) outside(name string) {
	if !w.at.Fresh && w.lenient == 0 && !library.Builtins[name] && len(w.stars) == 0 {
		w.hide()
	}
}
