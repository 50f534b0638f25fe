package evidence

import (
	"bytes"
	_ "embed"
	"html/template"
	"time"

	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// row is an event as the page shows it.
type row struct {
	Time, Kind, Session, What, Outcome, People, Place string
}

func (c *Case) page(found audit.Report, now time.Time) ([]byte, error) {
	var rows []row
	for _, e := range c.Events {
		rows = append(rows, rowOf(e))
	}
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, map[string]any{"ID": termsafe.Text(c.ID), "Made": now.UTC().Format(time.RFC3339), "Rows": rows,
		"Found": found})
	return page.Bytes(), err
}

func rowOf(e Event) row {
	r := row{Time: e.Timestamp.UTC().Format(time.RFC3339Nano), Kind: string(e.Custom.Event), Session: termsafe.Text(e.Custom.Session),
		What: termsafe.Text(e.ReadInput().Args.Text()), Outcome: e.ReadResult().Outcome, Place: e.Place}
	if len(e.Result) == 0 {
		r.Outcome = string(e.Custom.Status)
	}
	if e.Custom.Message != "" {
		r.Outcome += ": " + termsafe.Text(e.Custom.Message)
	}
	if a := e.Custom.Approval; a != nil {
		r.People = termsafe.Text(string(a.State) + " " + a.By)
	}
	return r
}
