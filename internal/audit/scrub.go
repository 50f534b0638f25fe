package audit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/redact"
)

// document is a line as it is read back.
type document struct {
	DecisionID  string              `json:"decision_id"`
	Timestamp   json.RawMessage     `json:"timestamp"`
	Path        string              `json:"path,omitempty"`
	Input       any                 `json:"input,omitempty"`
	Result      any                 `json:"result,omitempty"`
	Bundles     json.RawMessage     `json:"bundles,omitempty"`
	RequestedBy string              `json:"requested_by,omitempty"`
	Metrics     json.RawMessage     `json:"metrics,omitempty"`
	Error       *bailiff.EventError `json:"error,omitempty"`
	Labels      json.RawMessage     `json:"labels"`
	Custom      bailiff.Custom      `json:"custom"`
}

// unclosed is what marshal leaves for the chain to write.
const unclosed = "}}"

// scrubbed returns an unclosed line without known secrets. Most lines hold none
// and are looked through once. Those that do are taken apart, as replacing bytes
// in the line itself could cut an escape sequence in two or change the name of a
// field.
func scrubbed(line []byte, scrub func([]byte) []byte) ([]byte, error) {
	if bytes.Equal(scrub(line), line) {
		return line, nil
	}
	var d document
	decoder := json.NewDecoder(bytes.NewReader(append(line, unclosed...)))
	decoder.UseNumber()
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("scrubbing the event: %w", err)
	}
	d.scrub(func(s string) string { return string(scrub([]byte(s))) })
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("scrubbing the event: %w", err)
	}
	return text[:len(text)-len(unclosed)], nil
}

// scrub replaces every text that somebody else chose.
func (d *document) scrub(scrub func(string) string) {
	d.Input, d.Result = redact.JSON(d.Input, scrub), redact.JSON(d.Result, scrub)
	c := &d.Custom
	for _, text := range []*string{&d.RequestedBy, &c.RequestID, &c.Session, &c.SandboxID, &c.Message} {
		*text = scrub(*text)
	}
	if d.Error != nil {
		d.Error.Message = scrub(d.Error.Message)
	}
	if a := c.Approval; a != nil {
		a.By, a.Via, a.Message = scrub(a.By), scrub(a.Via), scrub(a.Message)
	}
	if g := c.BreakGlass; g != nil {
		g.By, g.Via, g.Reason = scrub(g.By), scrub(g.Via), scrub(g.Reason)
	}
}
