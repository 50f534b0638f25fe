package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bailiff-dev/bailiff/backends/catalogue"
)

// What the schema refuses the reader refuses too, and an editor sees most mistakes.
func TestTheSchemaAgreesWithTheReader(t *testing.T) {
	t.Parallel()
	schema := resolved(t)
	good, err := filepath.Glob("../../examples/*/bailiff.yaml")
	must(t, err)
	for _, file := range append(good, "testdata/good.yaml", "../../release/bailiff.yaml") {
		text, err := os.ReadFile(file)
		must(t, err)
		if err := validate(t, schema, text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	bad, err := filepath.Glob("testdata/bad/*.yaml")
	must(t, err)
	refused := map[string]bool{}
	for _, file := range bad {
		text, err := os.ReadFile(file)
		must(t, err)
		refused[filepath.Base(file)] = validate(t, schema, text) != nil
	}
	seen := 0
	for file, is := range refused {
		if is {
			seen++
		} else {
			t.Logf("only the reader refuses %s", file)
		}
	}
	for _, file := range []string{"key_misspelt.yaml", "key_misspelt_at_the_top.yaml", "key_unlike_any.yaml", "boolean_is_text.yaml",
		"duration_is_a_number.yaml", "list_is_text.yaml", "limit_misspelt.yaml", "limit_negative.yaml", "chat_unknown_key.yaml",
		"chat_secret_in_place.yaml", "backend_unknown.yaml", "egress_limit_zero.yaml", "bundle_algorithm.yaml"} {
		if !refused[file] {
			t.Errorf("the schema takes %s", file)
		}
	}
	if seen*4 < len(bad) {
		t.Errorf("the schema refuses %d of %d bad configurations", seen, len(bad))
	}
}

func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := Schema(catalogue.All())
	must(t, err)
	var schema jsonschema.Schema
	must(t, json.Unmarshal(text, &schema))
	whole, err := schema.Resolve(nil)
	must(t, err)
	return whole
}

// validate looks at a text as an editor would; what is no YAML is refused by both.
func validate(t *testing.T, schema *jsonschema.Resolved, text []byte) error {
	t.Helper()
	converted, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(converted, &value); err != nil {
		return err
	}
	return schema.Validate(value)
}
