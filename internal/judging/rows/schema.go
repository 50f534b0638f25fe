package rows

import (
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bailiff-dev/bailiff"
)

// Schema describes a row to editors, as JSON Schema. Keys of other names are the corpus' own.
func Schema() ([]byte, error) {
	root, err := jsonschema.ForType(reflect.TypeFor[Row](), &jsonschema.ForOptions{})
	if err != nil {
		return nil, err
	}
	root.Schema, root.Title = "https://json-schema.org/draft/2020-12/schema", "a row of bailiff judge"
	root.Required, root.AdditionalProperties = []string{"tool", "text"}, nil
	session := root.Properties["session"]
	session.Required, session.AdditionalProperties = nil, nil
	root.Properties["tool"].Enum = []any{bailiff.Terminal, bailiff.ExecuteCode}
	for _, word := range wants {
		root.Properties["want"].Enum = append(root.Properties["want"].Enum, word)
	}
	return json.MarshalIndent(root, "", "  ")
}
