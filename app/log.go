package app

import (
	"context"
	"io"
	"log/slog"

	"github.com/bailiff-dev/bailiff"
)

// NewLog returns the sidecar's own log, by the names that bailiff.yaml has for levels
// and formats.
func NewLog(named, format string, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(named)); err != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(concerned{slog.NewJSONHandler(w, options)})
	}
	return slog.New(concerned{slog.NewTextHandler(w, options)})
}

// concerned adds to a line which request it is about.
type concerned struct{ slog.Handler }

func (c concerned) Handle(ctx context.Context, line slog.Record) error {
	about := bailiff.ConcernOf(ctx)
	for _, id := range []slog.Attr{
		slog.String("request_id", about.RequestID), slog.String("decision_id", about.DecisionID), slog.String("trace_id", about.TraceID),
	} {
		if id.Value.String() != "" {
			line.AddAttrs(id)
		}
	}
	return c.Handler.Handle(ctx, line)
}

func (c concerned) WithAttrs(attrs []slog.Attr) slog.Handler {
	return concerned{c.Handler.WithAttrs(attrs)}
}

func (c concerned) WithGroup(name string) slog.Handler { return concerned{c.Handler.WithGroup(name)} }
