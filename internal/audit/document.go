package audit

import (
	"bytes"
	"encoding/json"

	"github.com/bailiff-dev/bailiff"
)

// unclosed is what marshal leaves for the chain to write.
const unclosed = "}}"

// document is an unclosed line as it is read back, to be changed and written anew.
// Replacing bytes in the line itself could cut an escape sequence in two or change
// the name of a field.
type document struct {
	DecisionID  string              `json:"decision_id"`
	Timestamp   json.RawMessage     `json:"timestamp"`
	Path        string              `json:"path,omitempty"`
	Input       part                `json:"input,omitzero"`
	Result      part                `json:"result,omitzero"`
	Erased      []string            `json:"erased,omitempty"`
	Masked      []string            `json:"masked,omitempty"`
	Bundles     json.RawMessage     `json:"bundles,omitempty"`
	RequestedBy string              `json:"requested_by,omitempty"`
	Metrics     json.RawMessage     `json:"metrics,omitempty"`
	Error       *bailiff.EventError `json:"error,omitempty"`
	Labels      json.RawMessage     `json:"labels"`
	Custom      bailiff.Custom      `json:"custom"`
}

// part is a value of any shape that may be missing, which null is not.
type part struct {
	value any
	there bool
}

// UnmarshalJSON keeps numbers as they are written.
func (p *part) UnmarshalJSON(text []byte) error {
	p.there = true
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(&p.value)
}

// MarshalJSON writes the value.
func (p part) MarshalJSON() ([]byte, error) { return json.Marshal(p.value) }

// IsZero says that it is missing.
func (p part) IsZero() bool { return !p.there }

func readDocument(line []byte) (d document, err error) {
	err = json.Unmarshal(append(line, unclosed...), &d)
	return d, err
}

// line writes it unclosed.
func (d document) line() ([]byte, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return text[:len(text)-len(unclosed)], nil
}
