package tables

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

const draft = "https://json-schema.org/draft/2020-12/schema"

// Schema describes a data.yaml of policies to editors, as JSON Schema: what the reader
// wants of each table. What hangs on other tables, such as the names of classes, only the
// reader knows; tables of other names are a team's own.
func Schema() ([]byte, error) {
	all := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for name, is := range known(nil, nil) {
		all.Properties[name] = schemaOf(is)
	}
	root := within("bailiff", map[string]*jsonschema.Schema{
		"tables": all, "packs": schemaOf(packs), "programs": schemaOf(entriesOf(family(nil, nil))),
	})
	root.Schema, root.Title = draft, "data.yaml"
	return json.MarshalIndent(root, "", "  ")
}

// PackSchema describes the data.yaml of one pack.
func PackSchema() ([]byte, error) {
	root := schemaOf(pack)
	root.Schema, root.Title = draft, "packs/NAME/data.yaml"
	return json.MarshalIndent(root, "", "  ")
}

// ProgramsSchema describes the data.yaml of one family of programs.
func ProgramsSchema() ([]byte, error) {
	root := schemaOf(family(nil, nil))
	root.Schema, root.Title = draft, "programs/FAMILY/data.yaml"
	return json.MarshalIndent(root, "", "  ")
}

// within is an object that may have other keys.
func within(key string, known map[string]*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{key: {Type: "object", Properties: known}}}
}

// schemaOf is what a shape says when it is given a schema to fill in the place of a value.
func schemaOf(is shape) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	is(s, keys{}, func(keys, string) {})
	return s
}

// describe says whether the value is a schema to fill.
func describe(value any, how func(*jsonschema.Schema)) bool {
	s, wanted := value.(*jsonschema.Schema)
	if wanted {
		how(s)
	}
	return wanted
}

func describeFields(s *jsonschema.Schema, known map[string]shape) {
	s.Type, s.Properties, s.AdditionalProperties = "object", map[string]*jsonschema.Schema{}, &jsonschema.Schema{Not: &jsonschema.Schema{}}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		s.Properties[name] = schemaOf(known[name])
	}
}

func describeEntries(s *jsonschema.Schema, each func(name string, value any, at keys, tell reporter)) {
	s.Type, s.AdditionalProperties = "object", schemaOf(func(value any, at keys, tell reporter) { each("", value, at, tell) })
}

func describeList(s *jsonschema.Schema, each shape) { s.Type, s.Items = "array", schemaOf(each) }

func describeWords(s *jsonschema.Schema, valid []string) {
	for _, word := range valid {
		s.Enum = append(s.Enum, word)
	}
}

func describeText(shape string) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) { s.Type, s.Pattern = "string", shape }
}

func describeNumber(kind string, least, most float64) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) { s.Type, s.Minimum, s.Maximum = kind, &least, &most }
}
