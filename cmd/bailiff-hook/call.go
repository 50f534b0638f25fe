package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// call is one tool call, as its client asks for it.
type call struct {
	// session is the client's own id of the conversation, cwd its folder on this machine.
	session, cwd string
	// transcript is the client's record of the conversation, where it names one.
	transcript string
	tool       string
	input      fields
	// after says that the tool has run already.
	after bool
}

// fields are an object whose names count letter by letter: what a model writes
// under a name that only looks like one is not that one.
type fields map[string]json.RawMessage

// readCall reads what the clients' questions have in common, for the event before a tool runs
// and those after it.
func readCall(text []byte, before string, after ...string) (c call, err error) {
	var all fields
	if err := json.Unmarshal(text, &all); err != nil || all == nil {
		return call{}, fmt.Errorf("reading the tool call: want a JSON object on standard input (%v)", err)
	}
	name, err := all.text("hook_event_name")
	c.after = slices.Contains(after, name)
	if err == nil && name != before && !c.after {
		events := strings.Join(append([]string{before}, after...), " and ")
		err = fmt.Errorf("it is the event %q, and this program answers %s only", name, events)
	}
	if err == nil {
		c.tool, err = all.text("tool_name")
	}
	if err == nil {
		c.session, err = all.text("session_id")
	}
	if err == nil {
		c.cwd, err = all.text("cwd")
	}
	if err == nil {
		c.input, err = all.object("tool_input")
	}
	if err == nil {
		c.transcript, err = all.optional("transcript_path")
	}
	if err != nil {
		return call{}, fmt.Errorf("reading the tool call: %w", err)
	}
	return c, nil
}

// text is a string that must be there.
func (f fields) text(name string) (string, error) {
	s, err := f.optional(name)
	if err == nil && s == "" {
		err = fmt.Errorf("%s is missing", name)
	}
	return s, err
}

// optional is a string that may be missing.
func (f fields) optional(name string) (s string, err error) {
	if value, there := f[name]; there {
		if err := json.Unmarshal(value, &s); err != nil {
			return "", fmt.Errorf("%s is no string", name)
		}
	}
	return s, nil
}

func (f fields) object(name string) (o fields, err error) {
	if err := json.Unmarshal(f[name], &o); err != nil || o == nil {
		return nil, fmt.Errorf("%s is no object", name)
	}
	return o, nil
}

// flag is a boolean that is false where it is missing.
func (f fields) flag(name string) (b bool, err error) {
	if value, there := f[name]; there {
		if err := json.Unmarshal(value, &b); err != nil {
			return false, fmt.Errorf("%s is neither true nor false", name)
		}
	}
	return b, nil
}

// seconds is a length of time that may be missing, given in units of which so many
// are a second, rounded up.
func (f fields) seconds(name string, units float64) (int, error) {
	var n *float64
	if value, there := f[name]; there {
		if err := json.Unmarshal(value, &n); err != nil {
			return 0, fmt.Errorf("%s is no number", name)
		}
	}
	switch {
	case n == nil:
		return 0, nil
	case *n < 0 || *n > units*math.MaxInt32:
		return 0, errors.New(name + " is no length of time")
	}
	return int(math.Ceil(*n / units)), nil
}

// kept are those of these names that are there.
func (f fields) kept(names ...string) fields {
	some := fields{}
	for _, name := range names {
		if value, there := f[name]; there {
			some[name] = value
		}
	}
	return some
}

// encoded is a value of this program's own as JSON.
func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // and a panic denies
	}
	return string(text)
}
