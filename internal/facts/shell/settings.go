package shell

import "github.com/bailiff-dev/bailiff/internal/facts/value"

// maxSettings is how many settings of one text are told.
const maxSettings = 256

// setting notes the value that is given to a variable.
func (a *analysis) setting(name, given string) {
	if len(a.settings) >= maxSettings {
		if a.settings = value.Sorted(a.settings); len(a.settings) >= maxSettings {
			a.hide()
			return
		}
	}
	a.settings = append(a.settings, value.Cut(name+"="+given, value.MaxSetting))
}
