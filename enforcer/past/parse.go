package past

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/bailiff-dev/bailiff"
)

// Parse reads a history as input documents have it. The files that a request runs, and the denials of
// the user, are found anew, and not read.
func Parse(text []byte) (*bailiff.SessionHistory, error) {
	var written struct {
		bailiff.SessionHistory
		Runs        []json.RawMessage `json:"runs"`
		UserDenials json.RawMessage   `json:"user_denials"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&written)
	if _, more := decoder.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("want one JSON object")
	}
	if err != nil {
		return nil, fmt.Errorf("reading a session's history: %w", err)
	}
	for _, h := range []*bailiff.SessionHistory{&written.SessionHistory, written.User} {
		if h != nil && h.SessionFacts == nil {
			h.SessionFacts = &bailiff.SessionFacts{}
		}
	}
	return &written.SessionHistory, nil
}
