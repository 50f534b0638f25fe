// Package diagnosis has the words in which examinations say what they found.
package diagnosis

import "fmt"

// State is how a check came out. The zero value is no good one.
type State string

// The states of a check.
const (
	Failed State = "failure"
	Warned State = "warning"
	Fine   State = "ok"
)

// Check is one thing that was looked at; Do says what would mend it.
type Check struct {
	Name    string `json:"name"`
	State   State  `json:"state"`
	Message string `json:"message"`
	Do      string `json:"do,omitempty"`
}

// Checks are those of one examination, in their order.
type Checks []Check

// Worst is the worst state among the checks; without any it is a failure.
func (all Checks) Worst() State {
	worst := Fine
	for _, c := range all {
		switch c.State {
		case Fine:
		case Warned:
			worst = Warned
		default:
			return Failed
		}
	}
	if len(all) == 0 {
		return Failed
	}
	return worst
}

// Fine notes what is well.
func (all *Checks) Fine(name, format string, args ...any) {
	*all = append(*all, Check{name, Fine, fmt.Sprintf(format, args...), ""})
}

// Doubt notes what deserves a second look.
func (all *Checks) Doubt(name, message, do string) {
	*all = append(*all, Check{name, Warned, message, do})
}

// Fail notes what is wrong.
func (all *Checks) Fail(name, message, do string) {
	*all = append(*all, Check{name, Failed, message, do})
}
