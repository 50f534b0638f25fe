package config

import (
	"fmt"
	"strings"
)

// Faults are all that is wrong with one configuration.
type Faults []Fault

// Fault is one thing that is wrong.
type Fault struct {
	File string
	Line int
	// Key is the path of the value, such as "agent.listeners[0].listen"; empty
	// where the text is not YAML.
	Key     string
	Message string
}

// Error writes one fault a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Error writes file, line, key and message.
func (f Fault) Error() string {
	if f.Key == "" {
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	}
	return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Key, f.Message)
}
