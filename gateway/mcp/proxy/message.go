package proxy

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// message is one of JSON-RPC: a request, a notification or a response.
type message struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   *fault         `json:"error,omitzero"`
}

// fault is an error as JSON-RPC has it.
type fault struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// Error makes a fault an error of Go.
func (f *fault) Error() string { return f.Message }

// faultOf is a fault of a code, in words.
func faultOf(code int, format string, values ...any) *fault {
	return &fault{Code: code, Message: fmt.Sprintf(format, values...)}
}

// The codes of faults.
const (
	codeParse    = -32700
	codeInvalid  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
	codeRefused  = -32000
)

// kind is what a message is.
type kind int

const (
	noMessage kind = iota
	request
	notification
	response
)

var idShape = regexp.MustCompile(`^(-?[0-9]{1,18}|"[^"\\]{0,200}")$`)

// read reads one message strictly: a name that is given twice, which readers take
// differently, is a fault.
func read(line []byte) (m message, k kind, f *fault) {
	if jsontext.Value(line).Kind() == '[' {
		return m, noMessage, &fault{Code: codeInvalid, Message: "Batches are not taken: send each message by itself."}
	}
	if err := json.Unmarshal(line, &m); err != nil {
		var syntax *jsontext.SyntacticError
		if errors.As(err, &syntax) {
			return message{}, noMessage, &fault{Code: codeParse, Message: "The line is no JSON: " + syntax.Error() + "."}
		}
		return message{}, noMessage, &fault{Code: codeInvalid, Message: "The line is no message of JSON-RPC: " + err.Error() + "."}
	}
	hasID := len(m.ID) > 0
	isAnswer := len(m.Result) > 0 != (m.Error != nil)
	switch {
	case m.Version != "2.0":
		return m, noMessage, &fault{Code: codeInvalid, Message: `Want jsonrpc "2.0".`}
	case hasID && !idShape.Match(m.ID):
		m.ID = nil
		return m, noMessage, &fault{Code: codeInvalid, Message: "Want a whole number or a short text as id."}
	case m.Method != "" && !isAnswer && len(m.Result) == 0 && hasID:
		return m, request, nil
	case m.Method != "" && !isAnswer && len(m.Result) == 0:
		return m, notification, nil
	case m.Method == "" && hasID && isAnswer:
		return m, response, nil
	}
	return m, noMessage, &fault{Code: codeInvalid, Message: "The message is no request, notification or response."}
}

// line is a message in one line.
func (m message) line() []byte {
	m.Version = "2.0"
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // texts, and JSON that was read: cannot fail
	}
	return text
}

// jsonOf is a value as JSON, the same for equal values.
func jsonOf(value any) jsontext.Value {
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		panic(err) // texts, and JSON that was read: cannot fail
	}
	return text
}
