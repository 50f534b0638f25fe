package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Call is one tool call, as its client asks for it.
type Call struct {
	// Session is the client's own id of the conversation, Cwd its folder on this machine.
	Session, Cwd string
	// Agent is the client's own id of the agent that makes the call, where another agent of the conversation started it.
	Agent string
	// Transcript is the client's record of the conversation, where it names one.
	Transcript string
	Tool       string
	Input      Fields
	// After says that the tool has run already.
	After bool
}

// Fields are an object whose names count letter by letter: what a model writes
// under a name that only looks like one is not that one.
type Fields map[string]json.RawMessage

// Read reads a question about the event before a tool runs, or one of those after it. A client
// without a key for the event asks about the first only.
func (k Keys) Read(text []byte, before string, after ...string) (c Call, err error) {
	var all Fields
	if err := json.Unmarshal(text, &all); err != nil || all == nil {
		return Call{}, fmt.Errorf("reading the tool call: want a JSON object on standard input (%v)", err)
	}
	if k.Event != "" {
		c.After, err = k.isAfter(all, before, after)
	}
	if err == nil {
		c.Tool, err = all.Text(k.Tool)
	}
	if err == nil {
		c.Session, err = all.Text(all.name(k.Session))
	}
	if err == nil {
		c.Cwd, err = k.folder(all)
	}
	if err == nil {
		c.Input, err = k.input(all)
	}
	if err == nil && k.Agent != "" {
		c.Agent, err = all.Optional(k.Agent)
	}
	if err == nil {
		c.Transcript, err = all.Optional("transcript_path")
	}
	if err != nil {
		return Call{}, fmt.Errorf("reading the tool call: %w", err)
	}
	return c, nil
}

// folder is the client's own, or the only one that it has open.
func (k Keys) folder(all Fields) (string, error) {
	folder, err := all.Optional(k.Cwd)
	if err != nil || folder != "" || k.Roots == "" {
		return all.Text(k.Cwd)
	}
	var roots []string
	if err := json.Unmarshal(all[k.Roots], &roots); err != nil || len(roots) != 1 || roots[0] == "" {
		return "", fmt.Errorf("%s is missing, and %s names %d folders, want one", k.Cwd, k.Roots, len(roots))
	}
	return roots[0], nil
}

// name is the one of these names, with | between them, that is there, or the first of them.
func (f Fields) name(names string) string {
	all := strings.Split(names, "|")
	for _, name := range all {
		if _, there := f[name]; there {
			return name
		}
	}
	return all[0]
}

// input is the object of a tool's input, or the one around a text where the client has tools that take text.
func (k Keys) input(all Fields) (Fields, error) {
	if k.Free != "" && strings.HasPrefix(string(all[k.Input]), `"`) {
		return Fields{k.Free: all[k.Input]}, nil
	}
	return all.Object(k.Input)
}

func (k Keys) isAfter(all Fields, before string, after []string) (bool, error) {
	name, err := all.Text(all.name(k.Event))
	isAfter := slices.Contains(after, name)
	if err == nil && name != before && !isAfter {
		events := strings.Join(append([]string{before}, after...), " and ")
		err = fmt.Errorf("it is the event %q, and this program answers %s only", name, events)
	}
	return isAfter, err
}

// Text is a string that must be there.
func (f Fields) Text(name string) (string, error) {
	s, err := f.Optional(name)
	if err == nil && s == "" {
		err = fmt.Errorf("%s is missing", name)
	}
	return s, err
}

// Optional is a string that may be missing.
func (f Fields) Optional(name string) (s string, err error) {
	if value, there := f[name]; there {
		if err := json.Unmarshal(value, &s); err != nil {
			return "", fmt.Errorf("%s is no string", name)
		}
	}
	return s, nil
}

func (f Fields) Object(name string) (o Fields, err error) {
	if err := json.Unmarshal(f[name], &o); err != nil || o == nil {
		return nil, fmt.Errorf("%s is no object", name)
	}
	return o, nil
}

// Flag is a boolean that is false where it is missing.
func (f Fields) Flag(name string) (b bool, err error) {
	if value, there := f[name]; there {
		if err := json.Unmarshal(value, &b); err != nil {
			return false, fmt.Errorf("%s is neither true nor false", name)
		}
	}
	return b, nil
}

// Seconds is a length of time that may be missing, given in units of which so many
// are a second, rounded up.
func (f Fields) Seconds(name string, units float64) (int, error) {
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

// Subset are those of these names that are there.
func (f Fields) Subset(names ...string) Fields {
	some := Fields{}
	for _, name := range names {
		if value, there := f[name]; there {
			some[name] = value
		}
	}
	return some
}

// JSON is a value of this program's own as JSON.
func JSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // and a panic denies
	}
	return string(text)
}
