package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Line is an [Event] as it is read back from the decision log. What it says of the
// request and of its decision is kept as it is written, for the policies may have
// masked any of it; see [Line.ReadInput] and [Line.ReadResult].
type Line struct {
	DecisionID string          `json:"decision_id"`
	TraceID    string          `json:"trace_id,omitempty"`
	SpanID     string          `json:"span_id,omitempty"`
	Timestamp  time.Time       `json:"timestamp"`
	Path       string          `json:"path,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	// Erased and Masked are the paths in input and result where a mask removed
	// something, or put something else in its place.
	Erased      []string          `json:"erased,omitempty"`
	Masked      []string          `json:"masked,omitempty"`
	Bundles     map[string]Bundle `json:"bundles,omitempty"`
	RequestedBy string            `json:"requested_by,omitempty"`
	Metrics     map[string]int64  `json:"metrics,omitempty"`
	Error       *EventError       `json:"error,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Custom      Custom            `json:"custom"`
}

// ReadLine reads a line of the decision log as far as it fits; an error says that it
// holds no event.
func ReadLine(text []byte) (l Line, err error) {
	err = ReadWhatFits(text, &l)
	return l, err
}

// ReadWhatFits reads a JSON object into a struct and passes over what is of another
// type than its field. An error says that there is no such object.
func ReadWhatFits(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) && other.Field != "" {
		return nil
	}
	return err
}

// LineInput is what was asked, by whom and with what at hand, as a line tells it.
type LineInput struct {
	Tool    bailiff.Tool    `json:"tool"`
	Args    LineArgs        `json:"args"`
	Session bailiff.Session `json:"session"`
	Env     struct {
		Requested []string `json:"requested"`
	} `json:"env"`
	Backend struct {
		Available map[string]bailiff.BackendState `json:"available"`
	} `json:"backend"`
}

// ReadInput is what is left to read of what was asked.
func (l Line) ReadInput() (input LineInput) {
	_ = ReadWhatFits(l.Input, &input) // else there is nothing left
	return input
}

// Requester names who asked, as platform/id, as far as the log knows.
func Requester(s bailiff.Session) string {
	return s.Platform + "/" + cmp.Or(s.UserID, s.UserName, "unknown")
}

// LineArgs is what the arguments of a request say in the input of an event, where
// those of a call are an object.
type LineArgs struct {
	Command   string          `json:"command"`
	Code      string          `json:"code"`
	Action    string          `json:"action"`
	ProcessID string          `json:"process_id"`
	Data      string          `json:"data"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Text is what there is to read.
func (a LineArgs) Text() string {
	parts := []string{a.Command + a.Code, a.Action, a.ProcessID, a.Data, a.Name, string(a.Arguments)}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " ")
}

// LineResult is what was decided, as a line tells it: the outcome is empty where a
// mask took it, and may be any text.
type LineResult struct {
	Outcome  string           `json:"outcome"`
	Denials  []bailiff.Reason `json:"denials"`
	Approval struct {
		Reasons []bailiff.Reason `json:"reasons"`
	} `json:"approval"`
	// Observed are the rules that were only observed, WithoutObserve what the outcome would have been.
	Observed       []string `json:"observed"`
	WithoutObserve string   `json:"without_observe"`
}

// ReadResult is what is left to read of what was decided.
func (l Line) ReadResult() (result LineResult) {
	_ = ReadWhatFits(l.Result, &result) // else there is nothing left
	return result
}
