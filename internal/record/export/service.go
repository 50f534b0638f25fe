package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Format is how a line of the log is told; nil is as it is.
type Format func(line []byte) ([]byte, error)

// Service takes events by HTTP, as OPA sends its own: POST of a JSON array of events,
// compressed by gzip (OPA's decision log service API).
type Service struct {
	api    *httpapi.Client
	url    string
	format Format
}

// NewService is the one at a server as in https://logs.example.com/logs. It does not
// connect yet.
func NewService(server httpapi.Server, format Format) (*Service, error) {
	s := &Service{url: server.URL, format: format}
	var err error
	s.api, err = server.Client(s.String(), reason)
	return s, err
}

// String is what errors call it.
func (*Service) String() string { return "the receiver of the decision log" }

// Settles at once: it answers when it has what it got.
func (*Service) Settles() time.Duration { return 0 }

// Close gives nothing back: each try is a request of its own.
func (*Service) Close() {}

// Blames says whether it refuses what it got, rather than to answer at all.
func (*Service) Blames(err error) bool {
	switch httpapi.Status(err) {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// Send asks until there is an answer to stay with.
func (s *Service) Send(ctx context.Context, lines [][]byte, began func(), failed func(error)) error {
	body, err := s.packed(lines)
	if err != nil {
		return fmt.Errorf("compressing events: %w", err)
	}
	return s.api.Do(ctx, httpapi.Call{Method: http.MethodPost, Address: s.url, Idempotent: true,
		Header: http.Header{"Content-Encoding": {"gzip"}},
		Body: func() (io.Reader, string, error) {
			began()
			return bytes.NewReader(body), "application/json", nil
		},
		Failed: failed})
}

// packed are lines as a JSON array, compressed.
func (s *Service) packed(lines [][]byte) ([]byte, error) {
	var body bytes.Buffer
	w := gzip.NewWriter(&body)
	before := "["
	for _, line := range lines {
		told, err := s.format.of(line)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(slices.Concat([]byte(before), told)); err != nil {
			return nil, err
		}
		before = ","
	}
	_, err := io.WriteString(w, "]")
	err = errors.Join(err, w.Close())
	return body.Bytes(), err
}

func (f Format) of(line []byte) ([]byte, error) {
	if f == nil {
		return line, nil
	}
	return f(line)
}

// reason reads the answer of a receiver in OPA's manner, if it is one.
func reason(body []byte) (code, message string) {
	var answer struct{ Code, Message string }
	_ = json.Unmarshal(body, &answer)
	return answer.Code, answer.Message
}
