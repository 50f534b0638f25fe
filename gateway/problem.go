package gateway

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/bailiff-dev/bailiff/api"
)

func problem(status int, code, message string) *api.Problem {
	return &api.Problem{Code: code, Message: message, Errors: []api.Fault{}, Status: status}
}

// refusalProblem names all faults of a request.
func refusalProblem(code string, faults []api.Fault) *api.Problem {
	said := make([]string, len(faults))
	for i, f := range faults {
		said[i] = strings.TrimPrefix(f.At+": ", ": ") + f.Message
	}
	p := problem(http.StatusBadRequest, code, "The request is not valid: "+strings.Join(said, "; ")+".")
	p.Errors = faults
	return p
}

// unread is why a request's body could not be read to its end.
func unread(err error) *api.Problem {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return problem(http.StatusRequestEntityTooLarge, "too_large",
			"The request is larger than "+strconv.FormatInt(tooLarge.Limit, 10)+" bytes.")
	case errors.Is(err, errSlotLost):
		return problem(http.StatusServiceUnavailable, "busy",
			"The request's body arrived slowly while other requests waited; send it at once, in a second.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problem(http.StatusRequestTimeout, "too_slow", "The request's body did not arrive in time; send it at once.")
	}
	return problem(http.StatusBadRequest, "cut_off", "The request's body broke off before its end.")
}

// refuse answers with a problem.
func refuse(w http.ResponseWriter, p *api.Problem) {
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	send(w, p.Status, p)
}

// Refuse answers a request with a problem, for what serves a listener besides its API.
func Refuse(w http.ResponseWriter, p *api.Problem) {
	if p.Errors == nil {
		p.Errors = []api.Fault{}
	}
	refuse(w, p)
}

// buffers hold a whole request as it is read, or a whole answer for one write.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keptBuffer is the largest buffer worth keeping for another.
const keptBuffer = 64 << 10

var (
	jsonType = []string{"application/json"}
	// Bytes that are no UTF-8 can only come from an error's text.
	// What is empty is what encoding/json takes for it, as the shared types say.
	lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), json.Deterministic(true),
		jsonv1.FormatDurationAsNano(true), jsonv1.OmitEmptyWithLegacySemantics(true))
)

// send answers with a value.
func send(w http.ResponseWriter, status int, value any) {
	buf := buffers.Get().(*bytes.Buffer)
	defer release(buf)
	if err := json.MarshalWrite(buf, value, lenient); err != nil {
		panic(err) // the wire types hold nothing that has no JSON
	}
	sendBytes(w, status, jsonType, buf.Bytes())
}

func release(buf *bytes.Buffer) {
	if buf.Cap() <= keptBuffer {
		buf.Reset()
		buffers.Put(buf)
	}
}

func sendBytes(w http.ResponseWriter, status int, contentType []string, body []byte) {
	h := w.Header()
	h["Content-Type"] = contentType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}
