package shell

import "github.com/bailiff-dev/bailiff/internal/facts/value"

// maxSettings is how many settings of one text are told.
const maxSettings = 256

// setting notes the value that is given to a variable, whole: its end may count.
func (facts *sink) setting(name, given string) {
	if len(facts.settings) >= maxSettings {
		facts.settings = value.Sorted(facts.settings)
	}
	if facts.given += len(name) + len(given); len(facts.settings) >= maxSettings || facts.given > value.MaxText {
		facts.hide()
		return
	}
	facts.settings = append(facts.settings, name+"="+given)
}
