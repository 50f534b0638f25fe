package rows

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

func TestTheSchemaAgreesWithTheReader(t *testing.T) {
	t.Parallel()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for row, sound := range map[string]bool{
		`{"tool": "terminal", "text": "ls"}`: true,
		`{"id": "a/1", "tool": "execute_code", "text": "", "want": "ask", "group": "g", "workdir": "/w", "backend": "docker", "note": 7,
			"session": {"platform": "telegram"}}`: true,
		`{"text": "ls"}`:                                     false,
		`{"tool": "process", "text": "ls"}`:                  false,
		`{"tool": "terminal"}`:                               false,
		`{"tool": "terminal", "text": 7}`:                    false,
		`{"tool": "terminal", "text": "ls", "want": "asks"}`: false,
	} {
		line := strings.NewReader(strings.ReplaceAll(row, "\n", ""))
		if err := read(line, "rows", "", func(Row) error { return nil }); (err == nil) != sound {
			t.Errorf("%s: the reader says %v", row, err)
		}
		var value any
		if err := json.Unmarshal([]byte(row), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != sound {
			t.Errorf("%s: the schema says %v", row, err)
		}
	}
}
