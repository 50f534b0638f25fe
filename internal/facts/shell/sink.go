package shell

import (
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// sink takes the facts that a reading finds: the calls, and what they name and change.
type sink struct {
	*budget
	calls []made
	// code is what the Python programs in the text would do, nil if there is none that tells.
	code *value.Code

	hosts, reads, writes, variables, features, assigns, settings, loses, files []string
	// opened are files that the text reads, sought those in which programs look for code.
	opened, sought []string
}

func (facts *sink) feature(name string) {
	if !slices.Contains(facts.features, name) {
		facts.features = append(facts.features, name)
	}
}
