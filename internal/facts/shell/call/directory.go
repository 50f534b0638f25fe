package call

import (
	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// Directory is what the entries say of programs. The last entry is kept, since a call asks often.
type Directory struct{ last *programs.Entry }

// About is all that is known of a program.
func (d *Directory) About(name string) *programs.Entry {
	if d.last == nil || d.last.Name != name {
		d.last = programs.Look(name)
	}
	return d.last
}
