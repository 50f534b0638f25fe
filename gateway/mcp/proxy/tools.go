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
	// maxListBytes bounds what a server says of its tools.
	maxListBytes = 1 << 20
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
		if st, f := s.listOnce(ctx); st != nil || f != nil {
			return st, f
		}
	}
	return nil, &fault{Code: codeRefused, Message: "The server's list of tools changes while it is read."}
}

// listOnce is the listing; nil if it changed meanwhile.
func (s *session) listOnce(ctx context.Context) (*serverState, *fault) {
	st := s.state()
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
	s.describeStart(&seen, next.files)
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

// describeStart puts into a listing what the server was started by.
func (s *session) describeStart(l *api.MCPListing, files []bailiff.File) {
	o := s.opening
	l.Command, l.Files, l.Unpinned = o.Command, slices.Clone(files), isUnpinned(o.Command, files)
	l.Headers, l.Workdir, l.Backend, l.Env = o.Headers, o.Workdir, o.Backend, slices.Compact(slices.Sorted(slices.Values(o.Env)))
}

// definitions are what the server says of its tools, all pages of it.
func (s *session) definitions(ctx context.Context) (all []jsontext.Value, f *fault) {
	cursor, bytes := "", 0
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
			return nil, faultOf(codeInternal, "The server's list of tools cannot be read: %s.", bailiff.Beginning(err.Error(), maxMisfit))
		}
		if bytes += len(result); bytes > maxListBytes {
			return nil, faultOf(codeInternal, "The server says more than %d KiB of its tools.", maxListBytes>>10)
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
	l := api.MCPListing{Name: st.info.Name, Title: st.info.Title, Version: st.info.Version, Instructions: st.instructions,
		Tools: []api.MCPTool{}}
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
		if t.schema, err = schemaOf(says.Schema); err != nil {
			t.refused = "Its schema of arguments cannot be used: " + bailiff.Beginning(err.Error(), maxMisfit) + "."
		}
	}
	return says.Name, t
}

func schemaOf(schema jsontext.Value) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := stdjson.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

var version = regexp.MustCompile(`(@v?\d|==\d|@sha256:)`)

// isUnpinned says that nothing tells which version of a server a command starts: none of its words
// names one, and it runs no file whose content is known. What is at a URL is its owner's choice.
func isUnpinned(command []string, files []bailiff.File) bool {
	return isURL(command) || !slices.ContainsFunc(command, version.MatchString) &&
		!slices.ContainsFunc(files, func(f bailiff.File) bool { return f.SHA256 != "" })
}

// toolList are the definitions that a client is told.
func (st *serverState) toolList() []jsontext.Value {
	all := []jsontext.Value{}
	for _, name := range st.order {
		if t := st.tools[name]; st.trusted && t.refused == "" && slices.Contains(st.offer, name) {
			all = append(all, t.definition)
		}
	}
	return all
}
