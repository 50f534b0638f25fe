package bailiff

import "context"

// Concern is the request that something is about which is logged.
type Concern struct{ RequestID, DecisionID, TraceID string }

type concernKey struct{}

// Concerning returns a context in which all that is logged is about a request. It
// decides nothing, and no function has to pass it on.
func Concerning(ctx context.Context, c Concern) context.Context {
	return context.WithValue(ctx, concernKey{}, c)
}

// ConcernOf is what is logged in a context about; the zero Concern says nothing.
func ConcernOf(ctx context.Context) Concern {
	c, _ := ctx.Value(concernKey{}).(Concern)
	return c
}
