// Package logline reads lines of the decision log for the exports, in one pass, since they must keep up with the log.
//
// Here: the event of a line with what was asked and decided. Promised: what is read is what package api reads of the same
// line, also where a mask put something of another type. Not here: what becomes of it.
package logline

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff/api"
)

// Event is what a line tells.
type Event struct {
	// Line lacks Input and Result, which stand beside it. Embedded, it would have the methods that read them there.
	Line   api.Line
	Input  api.LineInput
	Result api.LineResult
	// Hash is the line's own.
	Hash string
}

// custom is what bailiff adds, with the hash.
type custom struct {
	api.Custom
	Hash string `json:"hash"`
}

// lenient takes what encoding/json takes, too.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Read reads a line as far as it fits; an error says that it holds no event.
func Read(line []byte) (Event, error) {
	var read struct {
		api.Line
		Input  api.LineInput  `json:"input"`
		Result api.LineResult `json:"result"`
		Custom custom         `json:"custom"`
	}
	if json.Unmarshal(line, &read, lenient) != nil {
		return readWhatFits(line)
	}
	read.Line.Custom = read.Custom.Custom
	return Event{read.Line, read.Input, read.Result, read.Custom.Hash}, nil
}

// readWhatFits passes over what is of another type than its field, part by part.
func readWhatFits(line []byte) (Event, error) {
	var read struct {
		api.Line
		Custom custom `json:"custom"`
	}
	err := api.ReadWhatFits(line, &read)
	read.Line.Custom = read.Custom.Custom
	e := Event{read.Line, read.ReadInput(), read.ReadResult(), read.Custom.Hash}
	e.Line.Input, e.Line.Result = nil, nil
	return e, err
}
