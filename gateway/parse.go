package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// received is a request as it is spelt. Its args can be read only when the tool
// is known.
type received struct {
	RequestID   string          `json:"request_id"`
	Tool        bailiff.Tool    `json:"tool"`
	Args        jsontext.Value  `json:"args"`
	Session     bailiff.Session `json:"session"`
	Env         []string        `json:"env"`
	Backend     string          `json:"backend"`
	WaitSeconds whole           `json:"wait_seconds"`
}

type terminalArgs struct {
	Command    string `json:"command"`
	Background bool   `json:"background"`
	Stdin      string `json:"stdin"`
	Workdir    string `json:"workdir"`
	Timeout    whole  `json:"timeout"`
}

type codeArgs struct {
	Code    string `json:"code"`
	Reset   bool   `json:"reset"`
	Timeout whole  `json:"timeout"`
}

type processArgs struct {
	Action    string `json:"action"`
	ProcessID string `json:"process_id"`
	Data      string `json:"data"`
	Timeout   whole  `json:"timeout"`
}

type mcpArgs struct {
	Server    string         `json:"server"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// The codes of requests that were not understood.
const (
	codeJSON    = "invalid_json"
	codeRequest = "invalid_request"
)

// UsualWait is how long, in seconds, a request that does not say waits for an
// approval.
const UsualWait = 300

// How names are taken that nothing has: refused, or, to look for further faults of
// what is refused for them, passed over.
var (
	strict    = json.RejectUnknownMembers(true)
	forgiving = json.RejectUnknownMembers(false)
)

// ParseRequest reads a request as strictly as the agent API does, for programs
// that take one from a file. The error is a [*Problem] with every fault.
func ParseRequest(body []byte) (bailiff.Request, error) {
	req, p := parse(body)
	if p != nil {
		return bailiff.Request{}, p
	}
	return req, nil
}

// parse reads a request strictly: what it does not name, name twice or spell in
// the wrong type is a fault. The caller is left empty.
func parse(body []byte) (bailiff.Request, *api.Problem) {
	wire := received{WaitSeconds: UsualWait}
	if err := json.Unmarshal(body, &wire, strict); err != nil {
		return bailiff.Request{}, misread(err, "")
	}
	return wire.request()
}

func (wire *received) request() (bailiff.Request, *api.Problem) {
	req := bailiff.Request{ID: wire.RequestID, Tool: wire.Tool, Session: wire.Session, Env: wire.Env,
		Backend: wire.Backend, WaitSeconds: int(wire.WaitSeconds)}
	var err error
	if req.Args, err = readArgs(wire.Tool, wire.Args, strict); err != nil {
		p := misread(err, "/args")
		if req.Args, err = readArgs(wire.Tool, wire.Args, forgiving); err == nil {
			p = refusalProblem(p.Code, append(p.Errors, check(&req)...))
		}
		return req, p
	}
	if faults := check(&req); len(faults) > 0 {
		return req, refusalProblem(codeRequest, faults)
	}
	return req, nil
}

// readArgs reads the arguments of a tool, which some models send as a string
// that holds the object. Those of an unknown tool are left unread: the tool is
// the fault then.
func readArgs(tool bailiff.Tool, text jsontext.Value, unknown json.Options) (bailiff.Args, error) {
	if text.Kind() == '"' {
		inner, err := jsontext.AppendUnquote(nil, text)
		if err != nil {
			return bailiff.Args{}, err
		}
		text = inner
	}
	if len(text) == 0 {
		return bailiff.Args{}, nil
	}
	switch tool {
	case bailiff.Terminal:
		var a terminalArgs
		err := json.Unmarshal(text, &a, unknown)
		return bailiff.Args{Command: a.Command, Background: a.Background, Stdin: a.Stdin, Workdir: a.Workdir, Timeout: int(a.Timeout)}, err
	case bailiff.ExecuteCode:
		var a codeArgs
		err := json.Unmarshal(text, &a, unknown)
		return bailiff.Args{Code: a.Code, Reset: a.Reset, Timeout: int(a.Timeout)}, err
	case bailiff.Process:
		var a processArgs
		err := json.Unmarshal(text, &a, unknown)
		return bailiff.Args{Action: a.Action, ProcessID: a.ProcessID, Data: a.Data, Timeout: int(a.Timeout)}, err
	case bailiff.MCP:
		a := mcpArgs{Arguments: jsontext.Value("{}")}
		err := json.Unmarshal(text, &a, unknown)
		return bailiff.Args{Server: a.Server, Name: a.Name, Arguments: string(a.Arguments)}, err
	}
	return bailiff.Args{}, nil
}

// readBody reads a small object strictly; no body is an empty one.
func readBody(r *http.Request, into any) *api.Problem {
	buf := buffers.Get().(*bytes.Buffer)
	defer release(buf)
	if _, err := buf.ReadFrom(r.Body); err != nil {
		return unread(err)
	}
	text := bytes.TrimSpace(buf.Bytes())
	if len(text) == 0 {
		return nil
	}
	if bytes.Equal(text, []byte("null")) { // which no type refuses, and which says nothing
		return refusalProblem(codeRequest, []api.Fault{{Message: "want an object, is null"}})
	}
	if err := json.Unmarshal(buf.Bytes(), into, strict); err != nil {
		return misread(err, "")
	}
	return nil
}

// whole is a whole number, however it is spelt (180, 180.0, 18e1).
type whole int

var errNotWhole = errors.New("want a whole number")

// UnmarshalJSONFrom reads one number; null is zero.
func (n *whole) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	value, err := from.ReadValue()
	switch {
	case err != nil:
		return err
	case value.Kind() == 'n':
		*n = 0
		return nil
	case value.Kind() != '0':
		return errNotWhole
	}
	number, err := strconv.ParseFloat(string(value), 64)
	if err != nil || number != math.Trunc(number) || math.Abs(number) > math.MaxInt32 {
		return errNotWhole
	}
	*n = whole(number)
	return nil
}

// misread words a decoder's error; at is where the text stands in the request.
func misread(err error, at string) *api.Problem {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return refusalProblem(codeJSON, []api.Fault{{At: at + string(syntactic.JSONPointer), Message: badSyntax(syntactic)}})
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return refusalProblem(codeRequest, []api.Fault{{At: at + string(semantic.JSONPointer), Message: badMeaning(semantic)}})
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return refusalProblem(codeJSON, []api.Fault{{At: at, Message: "ends too early"}})
	}
	return refusalProblem(codeJSON, []api.Fault{{At: at, Message: err.Error()}})
}

func badSyntax(err *jsontext.SyntacticError) string {
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("the name %q is given twice", err.JSONPointer.LastToken())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON ends too early"
	}
	return fmt.Sprintf("the JSON is wrong at byte %d: %v", err.ByteOffset, err.Err)
}

func badMeaning(err *json.SemanticError) string {
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Sprintf("nothing is named %q here, want %s", err.JSONPointer.LastToken(), strings.Join(names(err.GoType), ", "))
	case errors.Is(err, errNotWhole):
		return errNotWhole.Error()
	}
	return "want " + typeName(err.GoType) + strings.TrimSuffix(", is "+kinds[err.JSONKind], ", is ")
}

// names are those of a type's values in JSON.
func names(t reflect.Type) (all []string) {
	if t == nil || t.Kind() != reflect.Struct {
		return []string{"another"}
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}

func typeName(t reflect.Type) string {
	if t == nil {
		return "another type"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	}
	return "a string"
}

var kinds = map[jsontext.Kind]string{
	'n': "null", 'f': "false", 't': "true", '"': "a string", '0': "a number", '{': "an object", '[': "a list",
}
