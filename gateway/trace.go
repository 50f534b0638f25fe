package gateway

import (
	"context"
	"net/http"

	"github.com/bailiff-dev/bailiff"
)

// Tracer follows requests for an agent's listener.
type Tracer interface {
	// Continue returns a context whose requests belong to the part of a trace that a
	// traceparent of W3C's names. One that is none changes nothing.
	Continue(ctx context.Context, traceparent string) context.Context
}

// Traceparent is the header in which an agent names the part of its trace that a request
// belongs to. It can come in _meta of MCP under the same name, and to programs that an
// agent starts in the variable TRACEPARENT.
const Traceparent = "traceparent"

type traceKey struct{}

// WithTraceparent returns a context whose requests take a traceparent along, if it can be one.
func WithTraceparent(ctx context.Context, value string) context.Context {
	if !bailiff.CanBeTraceparent(value) {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, value)
}

// TraceparentOf is what a context's requests take along; empty if they take none.
func TraceparentOf(ctx context.Context) string {
	value, _ := ctx.Value(traceKey{}).(string)
	return value
}

// withTrace has the requests of a handler belong to the traces that their headers name.
func (a *agent) withTrace(next http.Handler) http.Handler {
	if a.config.Tracer == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if said := r.Header.Values(Traceparent); len(said) == 1 {
			r = r.WithContext(a.config.Tracer.Continue(r.Context(), said[0]))
		}
		next.ServeHTTP(w, r)
	})
}
