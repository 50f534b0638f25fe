package evidence

import (
	_ "embed"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// pageText has places for the id, the number of events, the time, what was found, and the rows. Templates of the standard
// library call methods by name, for which the linker would keep every method of everything.
//
//go:embed page.html
var pageText string

const rowText = "<tr><td>%s</td><td>%s</td><td>%s</td><td><code>%s</code></td><td>%s</td><td>%s</td><td>%s</td></tr>\n"

func (c *Case) page(found audit.Report, now time.Time) []byte {
	var rows strings.Builder
	for _, e := range c.Events {
		fmt.Fprintf(&rows, rowText, cellsOf(e)...)
	}
	id := html.EscapeString(termsafe.Text(c.ID))
	return fmt.Appendf(nil, pageText, id, id, len(c.Events), now.UTC().Format(time.RFC3339), sentence(found), rows.String())
}

// sentence says what was found of the log.
func sentence(found audit.Report) string {
	if faults := len(found.Faults); faults > 0 {
		return fmt.Sprintf("<strong>The log is not as it was written.</strong> <code>verification.json</code> names %d faults.", faults)
	}
	said := fmt.Sprintf("The log was checked as a whole: its %d lines are as they were written", found.Lines)
	if found.Signed > 0 {
		said += fmt.Sprintf(", and as %d signed heads say", found.Signed)
	}
	return said + "."
}

// cellsOf are what the row of an event says, escaped.
func cellsOf(e Event) []any {
	outcome, people := e.ReadResult().Outcome, ""
	if len(e.Result) == 0 {
		outcome = string(e.Custom.Status)
	}
	if e.Custom.Message != "" {
		outcome += ": " + termsafe.Text(e.Custom.Message)
	}
	if a := e.Custom.Approval; a != nil {
		people = termsafe.Text(string(a.State) + " " + a.By)
	}
	cells := []any{e.Timestamp.UTC().Format(time.RFC3339Nano), string(e.Custom.Event), termsafe.Text(e.Custom.Session),
		termsafe.Text(e.ReadInput().Args.Text()), outcome, people, e.Place}
	for n, cell := range cells {
		cells[n] = html.EscapeString(cell.(string))
	}
	return cells
}
