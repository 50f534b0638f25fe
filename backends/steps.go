package backends

import (
	"context"
	"fmt"
)

// step is the key under which a context carries who wants to hear of steps.
type step struct{}

// WithSteps has tell called with each long step that is taken for a caller, such as
// bringing an image: a sentence's beginning without names of people, as in "pulling
// image debian:12: 3 of 7 parts". It is a trace, as net/http/httptrace is one, and
// decides nothing.
func WithSteps(ctx context.Context, tell func(what string)) context.Context {
	return context.WithValue(ctx, step{}, tell)
}

// Step tells the listener of a context what is being done that takes long.
func Step(ctx context.Context, format string, args ...any) {
	if tell, ok := ctx.Value(step{}).(func(string)); ok {
		tell(fmt.Sprintf(format, args...))
	}
}
