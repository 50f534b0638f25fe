package config

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bailiff-dev/bailiff/backends"
)

// Schema describes a configuration to editors, as JSON Schema. It is what the reader says
// when it is asked for each key, so that it knows every key of every section and no
// other. What hangs on several keys at once only the reader knows.
func Schema(known backends.Catalogue) ([]byte, error) {
	r := &reader{known: known, places: map[string]place{}}
	root := &jsonschema.Schema{Schema: "https://json-schema.org/draft/2020-12/schema", Title: "bailiff.yaml"}
	r.config(Default(known), place{node: described{schema: root}})
	return json.MarshalIndent(root, "", "  ")
}

// described stands where a value would, and takes what the reader would want of one.
type described struct {
	ast.Node
	schema *jsonschema.Schema
}

// GetToken is none: a description stands in no file.
func (described) GetToken() *token.Token { return nil }

// Type is none that a reader knows.
func (described) Type() ast.NodeType { return ast.UnknownNodeType }

// describe says whether a description is wanted, and not a value read.
func (p place) describe(how func(*jsonschema.Schema)) bool {
	d, wanted := p.node.(described)
	if wanted {
		how(d.schema)
	}
	return wanted
}

// describeSection describes each key; a section without keys may be left empty.
func describeSection(s *jsonschema.Schema, at place, want fields) {
	s.Types = []string{"object", "null"}
	s.Properties = map[string]*jsonschema.Schema{}
	s.AdditionalProperties = none()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		s.Properties[name] = &jsonschema.Schema{}
		want[name](place{under(at.key, name), described{schema: s.Properties[name]}})
	}
}

func describeList(s *jsonschema.Schema, at place, each func(place)) {
	s.Type, s.Items = "array", &jsonschema.Schema{}
	each(place{at.key, described{schema: s.Items}})
}

func describeNumber(s *jsonschema.Schema, kind string, least, most float64) {
	s.Type, s.Minimum, s.Maximum = kind, &least, &most
}

func describeDuration(s *jsonschema.Schema) {
	s.Type, s.Pattern = "string", `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`
	s.Examples = []any{"5m"}
}

func describeNames(s *jsonschema.Schema) {
	s.Type, s.AdditionalProperties = "object", &jsonschema.Schema{Type: "string"}
}

func describeCredential(s *jsonschema.Schema) {
	s.Type, s.AdditionalProperties = "object", none()
	s.MinProperties, s.MaxProperties = jsonschema.Ptr(1), jsonschema.Ptr(1)
	s.Properties = map[string]*jsonschema.Schema{
		"env": {Type: "string", Pattern: variableShape.String()}, "file": {Type: "string", MinLength: jsonschema.Ptr(1)},
	}
}

// none is a schema that nothing meets.
func none() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

func anyOf(texts []string) (all []any) {
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}
