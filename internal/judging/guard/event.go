package guard

import (
	"fmt"
	"reflect"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/facts"
)

// EventCondition picks events of the decision log.
type EventCondition struct{ condition condition }

// OfEvent compiles a filter. The error is a [*Fault].
func OfEvent(text string) (*EventCondition, error) {
	c, err := compile(eventScope, text)
	return &EventCondition{c}, err
}

// Holds says whether the condition holds for an event, a line of the decision log.
func (c *EventCondition) Holds(line []byte) (bool, error) {
	e, err := readEvent(line)
	if err != nil {
		return false, fmt.Errorf("reading an event: %w", err)
	}
	variables := make(map[string]any, len(eventFields))
	for i, field := range eventFields {
		value := reflect.ValueOf(&e).Elem().Field(i)
		if value.Kind() == reflect.Struct {
			value = value.Addr()
		}
		variables[field] = value.Interface()
	}
	holds, err := c.condition.holdsInTime(variables)
	if err != nil {
		return false, fmt.Errorf("event %.100q: %w", e.DecisionID, err)
	}
	return holds, nil
}

// readEvent leaves empty what a mask took away.
func readEvent(text []byte) (e event, err error) {
	l, err := api.ReadLine(text)
	if err != nil {
		return e, err
	}
	e = event{DecisionID: l.DecisionID, Timestamp: l.Timestamp.Format(time.RFC3339Nano), Path: l.Path,
		Bundles: l.Bundles, RequestedBy: l.RequestedBy, Metrics: l.Metrics, Custom: l.Custom}
	if l.Error != nil {
		e.Error = *l.Error
	}
	_ = api.ReadWhatFits(l.Input, &e.Input)
	_ = api.ReadWhatFits(l.Result, &e.Result)
	return e, nil
}

// event is what filters see of an event: its JSON, where everything is always there.
type event struct {
	DecisionID  string                `json:"decision_id"`
	Timestamp   string                `json:"timestamp"`
	Path        string                `json:"path"`
	Input       eventInput            `json:"input"`
	Result      decision              `json:"result"`
	Bundles     map[string]api.Bundle `json:"bundles"`
	RequestedBy string                `json:"requested_by"`
	Metrics     map[string]int64      `json:"metrics"`
	Error       api.EventError        `json:"error"`
	Custom      api.Custom            `json:"custom"`
}

// eventInput is the input document by which was judged.
type eventInput struct {
	Tool    string          `json:"tool"`
	Args    eventArgs       `json:"args"`
	Caller  eventCaller     `json:"caller"`
	Session bailiff.Session `json:"session"`
	Env     eventEnv        `json:"env"`
	Backend eventBackend    `json:"backend"`
	Command facts.Command   `json:"command"`
	Code    facts.Code      `json:"code"`
	Time    string          `json:"time"`
}

type eventArgs struct {
	Command    string `json:"command"`
	Workdir    string `json:"workdir"`
	Timeout    int    `json:"timeout"`
	Background bool   `json:"background"`
	Stdin      string `json:"stdin"`
	Code       string `json:"code"`
	Reset      bool   `json:"reset"`
	Action     string `json:"action"`
	ProcessID  string `json:"process_id"`
	Data       string `json:"data"`
	Name       string `json:"name"`
	// Arguments is the text of an object.
	Arguments jsonText `json:"arguments"`
}

type jsonText string

// UnmarshalJSON keeps the text as it is.
func (t *jsonText) UnmarshalJSON(text []byte) error {
	*t = jsonText(text)
	return nil
}

type eventCaller struct {
	Name string `json:"name"`
}

type eventEnv struct {
	Requested []string `json:"requested"`
	Available []string `json:"available"`
}

type eventBackend struct {
	Requested string `json:"requested"`
}

// eventFields are the names of an event's fields, in their order.
var eventFields = func() (names []string) {
	for i := range reflect.TypeFor[event]().NumField() {
		names = append(names, reflect.TypeFor[event]().Field(i).Tag.Get("json"))
	}
	return names
}()

var eventScope = newScope(func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for i, name := range eventFields {
		types[name] = reflect.TypeFor[event]().Field(i).Type
	}
	return types
}())
