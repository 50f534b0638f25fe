package api

import "time"

// Report is the answer to GET /v1/report: what the decision log tells of the last days, as it is shown to people.
type Report struct {
	// AsOf is when it was made: it may be remembered.
	AsOf time.Time `json:"as_of"`
	// Days is how many it is about, until AsOf.
	Days    int           `json:"days"`
	Summary string        `json:"summary"`
	Tables  []ReportTable `json:"tables"`
}

// ReportTable is a part of a report: the cells of a row stand below the words of the head.
type ReportTable struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
}
