package audit

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/bailiff-dev/bailiff/api"
)

// unclosed is what marshal leaves for the chain to write.
const unclosed = "}}"

// document is an unclosed line as it is read back, to be changed and written anew.
// Replacing bytes in the line itself could cut an escape sequence in two or change
// the name of a field.
type document struct {
	api.Line
	input, result part
}

// part is a value of any shape that may be missing, which null is not.
type part struct {
	value any
	there bool
}

// readDocument reads all of a line or fails: what were passed over would be lost.
func readDocument(line []byte) (d document, err error) {
	decoder := json.NewDecoder(bytes.NewReader(append(line, unclosed...)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d.Line); err != nil {
		return d, err
	}
	var wrong error
	d.input, err = readPart(d.Input)
	d.result, wrong = readPart(d.Result)
	return d, errors.Join(err, wrong)
}

// readPart keeps numbers as they are written.
func readPart(text json.RawMessage) (p part, err error) {
	if p.there = text != nil; p.there {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		err = decoder.Decode(&p.value)
	}
	return p, err
}

// line writes it unclosed.
func (d document) line() ([]byte, error) {
	var err, wrong error
	d.Input, err = d.input.text()
	d.Result, wrong = d.result.text()
	if err := errors.Join(err, wrong); err != nil {
		return nil, err
	}
	text, err := json.Marshal(d.Line)
	if err != nil {
		return nil, err
	}
	return text[:len(text)-len(unclosed)], nil
}

func (p part) text() (json.RawMessage, error) {
	if !p.there {
		return nil, nil
	}
	return json.Marshal(p.value)
}
