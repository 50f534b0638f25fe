package config

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Traces says who is told where the time of requests goes.
type Traces struct {
	// Server takes OTLP by HTTP; none has no URL.
	httpapi.Server
	// Sample is the share of the traces that are told, from 0 to 1.
	Sample float64
	// Commands says that what is to run is told too.
	Commands bool
}

// Settings are the keys of traces.
func (t *Traces) Settings() []settings.Setting {
	return append(t.Server.Settings(), settings.Setting{Key: "sample", Into: &t.Sample},
		settings.Setting{Key: "commands", Into: &t.Commands})
}

func (r *reader) traces(t *Traces, at place) {
	r.server(&t.Server, t.Settings(), at, "where traces are sent, as in https://collector.example.com/v1/traces")
}

func (r *reader) fraction(into *float64) func(place) {
	return func(at place) {
		if at.describe(func(s *jsonschema.Schema) { describeNumber(s, "number", 0, 1) }) {
			return
		}
		switch at.node.(type) {
		case *ast.IntegerNode, *ast.FloatNode:
		default:
			r.wrongType(at, "a number from 0 to 1")
			return
		}
		text := at.node.GetToken().Value
		number, err := strconv.ParseFloat(text, 64)
		if err != nil || !(number >= 0 && number <= 1) {
			r.fault(at, "want a number from 0 to 1, is %s", text)
			return
		}
		*into = number
	}
}
