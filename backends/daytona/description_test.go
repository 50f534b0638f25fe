package daytona

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// description is one of Daytona's own of what it takes and answers. It is read as
// strictly as can be: what it does not name is wrong.
type description struct {
	router routers.Router
	key    string
}

func readDescription(t testing.TB, file, key string) *description {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("testdata/" + file)
	backendtest.Must(t, err)
	for _, schema := range doc.Components.Schemas {
		closeSchema(schema.Value)
	}
	doc.Servers = nil
	router, err := legacy.NewRouter(doc, openapi3.DisableExamplesValidation())
	backendtest.Must(t, err)
	return &description{router, key}
}

// closeSchema has an object hold what is named and nothing else.
func closeSchema(s *openapi3.Schema) {
	if len(s.Properties) > 0 && s.AdditionalProperties.Schema == nil && s.AdditionalProperties.Has == nil {
		s.AdditionalProperties.Has = new(bool)
	}
}

// heard is a question that was found right, and the operation it asks for.
type heard struct {
	operation string
	path      map[string]string
	input     *openapi3filter.RequestValidationInput
}

var errUnauthorized = errors.New("the key is missing or wrong")

// check reads a question, whose body can be read again.
func (d *description) check(r *http.Request) (heard, error) {
	route, params, err := d.router.FindRoute(r)
	if err != nil {
		return heard{}, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err)
	}
	about := heard{route.Operation.OperationID, params, &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{RejectWhenRequestBodyNotSpecified: true,
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}}
	if r.Header.Get("Authorization") != "Bearer "+d.key {
		return about, errUnauthorized
	}
	for name := range r.URL.Query() {
		if route.Operation.Parameters.GetByInAndName("query", name) == nil {
			return about, fmt.Errorf("%s takes no %q", about.operation, name)
		}
	}
	return about, openapi3filter.ValidateRequest(r.Context(), about.input)
}

// checkAnswer looks at what a stand-in is about to answer.
func (d *description) checkAnswer(about heard, answer *httptest.ResponseRecorder) error {
	if answer.Code >= 400 {
		return nil // the description says little of these
	}
	return openapi3filter.ValidateResponse(about.input.Request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: about.input, Status: answer.Code, Header: answer.Header(),
		Body:    io.NopCloser(bytes.NewReader(answer.Body.Bytes())),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
}
