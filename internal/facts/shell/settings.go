package shell

import "github.com/bailiff-dev/bailiff/internal/facts/value"

// maxSettings is how many settings of one text are told.
const maxSettings = 256

// setting notes the value that is given to a variable, whole: its end may count.
func (a *analysis) setting(name, given string) {
	if len(a.settings) >= maxSettings {
		a.settings = value.Sorted(a.settings)
	}
	if a.given += len(name) + len(given); len(a.settings) >= maxSettings || a.given > value.MaxText {
		a.hide()
		return
	}
	a.settings = append(a.settings, name+"="+given)
}
