package rows

import (
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// Earlier is a request that the session of a row made before it.
type Earlier struct {
	Tool    bailiff.Tool `json:"tool,omitempty"` // empty is the terminal
	Text    string       `json:"text"`
	Workdir string       `json:"workdir,omitempty"`
	// Session is that of another session, where it is not the row's; empty keys are as in the row's.
	Session bailiff.Session `json:"session,omitzero"`
	// Outcome is what became of it: it ran (the usual), or was denied by the policies or by people.
	Outcome Outcome `json:"outcome,omitempty"`
	// Files are what files hold from then on.
	Files map[string]string `json:"files,omitempty"`
}

// Outcome is what became of an earlier request.
type Outcome string

// Ran and Denied are the outcomes.
const (
	Ran    Outcome = "ran"
	Denied Outcome = "denied"
)

var outcomes = []Outcome{"", Ran, Denied}

// IsRecorded says that a row tells what its session did before.
func (r Row) IsRecorded() bool { return len(r.Before) > 0 }

// checkSession refuses earlier requests that cannot be judged.
func (r Row) checkSession() error {
	for n, e := range r.Before {
		switch {
		case e.Text == "":
			return fmt.Errorf("before[%d]: text is missing", n)
		case !slices.Contains([]bailiff.Tool{"", bailiff.Terminal, bailiff.ExecuteCode}, e.Tool):
			return fmt.Errorf("before[%d]: tool is %q, want %s or %s", n, e.Tool, bailiff.Terminal, bailiff.ExecuteCode)
		case !slices.Contains(outcomes, e.Outcome):
			return fmt.Errorf("before[%d]: outcome is %q, want %s or %s", n, e.Outcome, Ran, Denied)
		}
	}
	return nil
}

// Of is an earlier request as a row.
func (e Earlier) Of(r Row) Row {
	row := Row{Tool: e.Tool, Text: e.Text, Workdir: e.Workdir, Session: r.Session, Backend: r.Backend}
	if row.Tool == "" {
		row.Tool = bailiff.Terminal
	}
	if row.Workdir == "" {
		row.Workdir = r.Workdir
	}
	if e.Session.ID != "" {
		row.Session.ID = e.Session.ID
	}
	if e.Session.UserID != "" {
		row.Session.UserID = e.Session.UserID
	}
	return row
}
