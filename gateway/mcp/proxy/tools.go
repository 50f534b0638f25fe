package proxy

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

const (
	// maxTools and maxPages bound a server's list.
	maxTools = 1000
	maxPages = 50
	// maxReadings bounds how often a list is read that changes meanwhile.
	maxReadings = 3
)

// tool is one of the server's.
type tool struct {
	definition jsontext.Value
	schema     *jsonschema.Resolved // of its arguments
	refused    string
}

// toolName is what a tool may be called: by letters that look like no others.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

// usable is a tool that may be called; nil where the server has none of that name.
func (st *serverState) usable(name string) *tool {
	if t := st.tools[name]; t != nil && t.refused == "" {
		return t
	}
	return nil
}

// listing asks the server for its tools, if they are not known, and notes whether a person
// said yes to them. What changes while it is read is read anew.
func (s *session) listing(ctx context.Context) (*serverState, *fault) {
	for range maxReadings {
		if st, f := s.reading(ctx); st != nil || f != nil {
			return st, f
		}
	}
	return nil, &fault{Code: codeRefused, Message: "The server's list of tools changes while it is read."}
}

// reading is the listing; nil if it changed meanwhile.
func (s *session) reading(ctx context.Context) (*serverState, *fault) {
	st := s.started()
	if st == nil || st.info.Name == "" {
		return nil, &fault{Code: codeRefused, Message: "The server was not initialized yet."}
	}
	if st.tools != nil {
		return st, nil
	}
	next := *st
	var definitions []jsontext.Value
	if st.listsTools {
		var f *fault
		if definitions, f = s.definitions(ctx); f != nil {
			return nil, f
		}
	}
	seen := next.read(definitions)
	seen.Command, seen.Files, seen.Unpinned = s.opening.Command, slices.Clone(next.files), unpinned(s.opening.Command, next.files)
	var err error
	if next.trusted, err = s.trust.See(s.opening.Server, seen); err != nil {
		return nil, &fault{Code: codeRefused, Message: bailiff.Sentence(err.Error())}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != st { // it was told meanwhile that they changed, or another call read them
		return nil, nil
	}
	s.server = &next
	return &next, nil
}

// definitions are what the server says of its tools, all pages of it.
func (s *session) definitions(ctx context.Context) (all []jsontext.Value, f *fault) {
	cursor := ""
	for range maxPages {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		result, f := s.ask(ctx, "tools/list", params, nil)
		if f != nil {
			return nil, f
		}
		var page struct {
			Tools []jsontext.Value `json:"tools"`
			Next  string           `json:"nextCursor"`
		}
		if err := json.Unmarshal(result, &page); err != nil {
			return nil, &fault{Code: codeInternal, Message: "The server's list of tools cannot be read: " + err.Error() + "."}
		}
		if all = append(all, page.Tools...); len(all) > maxTools {
			return nil, &fault{Code: codeInternal, Message: fmt.Sprintf("The server lists more than %d tools.", maxTools)}
		}
		if cursor = page.Next; cursor == "" {
			return all, nil
		}
	}
	return nil, &fault{Code: codeInternal, Message: fmt.Sprintf("The server's list of tools has more than %d pages.", maxPages)}
}

// read takes the tools in, and returns what a person is shown of them.
func (st *serverState) read(definitions []jsontext.Value) api.MCPListing {
	st.tools, st.order = map[string]*tool{}, nil
	l := api.MCPListing{Name: st.info.Name, Version: st.info.Version, Instructions: st.instructions, Tools: []api.MCPTool{}}
	var names []string
	for _, d := range definitions {
		name, t := readTool(d)
		if st.tools[name] != nil {
			t.refused = "Two tools have this name."
			st.tools[name].refused = t.refused
		} else {
			st.tools[name] = t
		}
		names = append(names, name)
		l.Tools = append(l.Tools, api.MCPTool{Name: name, Definition: stdjson.RawMessage(t.definition), Refused: t.refused})
	}
	for i, name := range names {
		l.Tools[i].Refused = st.tools[name].refused
	}
	st.order = names
	return l
}

// readTool reads one tool as a server defines it.
func readTool(definition jsontext.Value) (name string, t *tool) {
	t = &tool{definition: definition.Clone()}
	if err := t.definition.Format(jsontext.ReorderRawObjects(true)); err != nil {
		return "", &tool{definition: jsontext.Value("null"), refused: "It cannot be read."}
	}
	var says struct {
		Name   string         `json:"name"`
		Schema jsontext.Value `json:"inputSchema"`
	}
	err := json.Unmarshal(definition, &says)
	switch {
	case err != nil:
		t.refused = "It is not defined as tools are."
	case !toolName.MatchString(says.Name):
		t.refused = "Its name holds more than letters from a to z, digits and _./-, or is too long."
	case isMethod(says.Name):
		t.refused = "Its name is that of a method of the protocol."
	default:
		if t.schema, err = resolved(says.Schema); err != nil {
			t.refused = "Its schema of arguments cannot be used: " + err.Error() + "."
		}
	}
	return says.Name, t
}

func resolved(schema jsontext.Value) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := stdjson.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

var version = regexp.MustCompile(`(@v?\d|==\d|@sha256:)`)

// unpinned says that nothing tells which version of a server a command starts: none of its words
// names one, and it runs no file whose content is known.
func unpinned(command []string, files []bailiff.File) bool {
	return !slices.ContainsFunc(command, version.MatchString) &&
		!slices.ContainsFunc(files, func(f bailiff.File) bool { return f.SHA256 != "" })
}

// offeredTools are the definitions that a client is told.
func (st *serverState) offeredTools() []jsontext.Value {
	all := []jsontext.Value{}
	for _, name := range st.order {
		if t := st.tools[name]; st.trusted && t.refused == "" && slices.Contains(st.offered, name) {
			all = append(all, t.definition)
		}
	}
	return all
}
