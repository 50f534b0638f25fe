// Package required words the one fault that a constructor finds in its config: what
// is missing, all of it at once.
//
// Not here: what a field may say (the package that owns it).
package required

import (
	"errors"
	"slices"
	"strings"
)

// Fields is an error that names the fields of a config that are absent, in the order
// of the alphabet: "mcp config lacks Name, Sidecar". It is nil if all are there.
func Fields(config string, absent map[string]bool) error {
	var names []string
	for name, lacks := range absent {
		if lacks {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	slices.Sort(names)
	return errors.New(config + " config lacks " + strings.Join(names, ", "))
}
