package source

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Fault is one thing that is wrong with policies. Line is zero where the fault
// is the whole file's or folder's.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// String writes file, line and message.
func (f Fault) String() string {
	switch {
	case f.File == "":
		return f.Message
	case f.Line == 0:
		return f.File + ": " + f.Message
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
}

// FaultAt is what is wrong at a place of a policy.
func FaultAt(at *ast.Location, message string) Fault {
	return Fault{File: at.File, Line: at.Row, Message: message}
}

// Faults are all that is wrong with one set of policies.
type Faults []Fault

// Error writes one fault a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Sorted puts faults in the order of files and lines, each once.
func (f Faults) Sorted() Faults {
	slices.SortFunc(f, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(f)
}

// FaultsOf takes an error of OPA apart; file stands where it names none.
func FaultsOf(err error, file string) Faults {
	var many ast.Errors
	var single *ast.Error
	if errors.As(err, &single) {
		many = ast.Errors{single}
	} else if !errors.As(err, &many) {
		return Faults{{File: file, Message: err.Error()}}
	}
	faults := make(Faults, len(many))
	for i, one := range many {
		faults[i] = Fault{File: file, Message: told(one)}
		if at := one.Location; at != nil {
			faults[i].File, faults[i].Line = cmp.Or(at.File, file), at.Row
		}
	}
	return faults
}

// told is the text of a fault without its place: code, sentence, and what OPA
// has to say about it, such as the keys that would have been valid. What it has
// to say about syntax is a drawing.
func told(e *ast.Error) string {
	text := e.Code + ": " + e.Message
	if e.Details == nil || e.Code == ast.ParseErr {
		return text
	}
	for _, line := range e.Details.Lines() {
		if line = strings.TrimSpace(line); line != "" {
			text += "; " + line
		}
	}
	return text
}
