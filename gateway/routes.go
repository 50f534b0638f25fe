package gateway

import (
	_ "embed"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/api"
)

//go:embed openapi.yaml
var description []byte

// routes are the paths of one handler. Every other path is 404, and
// nothing is redirected.
type routes struct {
	mux *http.ServeMux
}

func newRoutes() *routes {
	rs := &routes{mux: http.NewServeMux()}
	rs.answer(http.MethodGet, "/healthz", func(*http.Request) (any, *api.Problem) { return api.Health{Status: "ok"}, nil })
	rs.on(http.MethodGet, "/v1/openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		sendBytes(w, http.StatusOK, []string{"application/yaml"}, description)
	})
	rs.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { noRoute(w, r) })
	return rs
}

// answer works out what a request is answered with: a value, nil for an empty answer, or a
// problem.
type answer func(r *http.Request) (value any, p *api.Problem)

// ServeHTTP answers with it.
func (a answer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch value, p := a(r); {
	case p != nil:
		refuse(w, p)
	case value == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		send(w, http.StatusOK, value)
	}
}

// answer serves one path by one method.
func (rs *routes) answer(method, pattern string, by answer) { rs.on(method, pattern, by.ServeHTTP) }

// on serves one path by one method, and says 405 to the others.
func (rs *routes) on(method, pattern string, handle http.HandlerFunc) {
	rs.each(pattern, map[string]http.HandlerFunc{method: handle})
}

// each serves one path by some methods.
func (rs *routes) each(pattern string, handlers map[string]http.HandlerFunc) {
	methods := strings.Join(slices.Sorted(maps.Keys(handlers)), ", ")
	rs.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		handle, ok := handlers[r.Method]
		if !ok {
			w.Header().Set("Allow", methods)
			refuse(w, problem(http.StatusMethodNotAllowed, "method_not_allowed", "This path takes "+methods+" only."))
			return
		}
		handle(w, r)
	})
}

// ServeHTTP finds the path's handler.
func (rs *routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := r.URL.EscapedPath(); r.Method == http.MethodConnect || p != path.Clean(p) {
		noRoute(w, r)
		return
	}
	rs.mux.ServeHTTP(w, r)
}

func noRoute(w http.ResponseWriter, r *http.Request) {
	notFound(w, "There is nothing at "+cut(r.URL.Path)+"; GET /v1/openapi.yaml lists what is.")
}

func notFound(w http.ResponseWriter, message string) {
	refuse(w, problem(http.StatusNotFound, "not_found", message))
}

// elsewhere are paths that another listener serves, or this one if it were configured
// to; who asks here is told so.
func (rs *routes) elsewhere(message string, patterns ...string) {
	for _, pattern := range patterns {
		rs.mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { notFound(w, message) })
	}
}
