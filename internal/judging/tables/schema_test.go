package tables

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"
)

func TestTheSchemasTakeWhatIsShipped(t *testing.T) {
	t.Parallel()
	tables, programs := resolved(t, Schema), resolved(t, ProgramsSchema)
	families, err := filepath.Glob("../../../policies/bailiff/programs/*/data.yaml")
	must(t, err)
	teams, err := filepath.Glob("../../../examples/policies/*/data.yaml")
	must(t, err)
	if len(families) < 5 || len(teams) < 3 {
		t.Fatalf("found %d families of programs and the tables of %d teams", len(families), len(teams))
	}
	for _, file := range append(teams, "../../../policies/data.yaml") {
		if err := tables.Validate(decoded(t, file)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, file := range families {
		if err := programs.Validate(decoded(t, file)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Of the mistakes that one value shows, schema and reader find the same.
func TestTheSchemaAgreesWithTheReader(t *testing.T) {
	t.Parallel()
	schema := resolved(t, Schema)
	for text, sound := range map[string]bool{
		"platforms: {teams: {backends: [podman]}, x: {}}\nsandboxes: {podman: {}}": true,
		"mine: {any: thing}": true,
		"destinations: {registry.npmjs.org: [{methods: [GET], ports: [443]}]}": true,
		"platforms: {teams: {persistant: {docker: true}}}":                     false,
		"platforms: {teams: {isolation: requird}}":                             false,
		"platforms: {teams: {persistent: true}}":                               false,
		"sandboxes: {docker: {limits: {idle_seconds: 0}}}":                     false,
		"limits: {tools: {terminal: {timeout_seconds: 1.5}}}":                  false,
		"unnamed_sandbox: {limits: {pids: '9'}}":                               false,
		"limits: {unasked_timeout_seconds: {terminl: 9}}":                      false,
		"network: {platforms: {slack: {network: ful}}}":                        false,
		"env: {X: [{platforms: ['*'], programs: git}]}":                        false,
		"classes: {x: {attack: [T1059, T105]}}":                                false,
		"destinations: {registry.npmjs.org: [{methods: [get]}]}":               false,
		"hidden_rules: {command.kills_processes: 'yes'}":                       false,
		"observe: {command.kills_processes: {until: '2026-02-03'}}":            true,
		"observe: {command.kills_processes: {until: 3}}":                       false,
		"observe: {command.kills_processes: {till: '2026-02-03'}}":             false,
		"platforms: [telegram]":                                                false,
	} {
		all := of(t, []byte(text))
		if faults := Check(numbered(t, all), nil); (len(faults) == 0) != sound {
			t.Errorf("%s: the reader finds %v", text, faults)
		}
		if err := schema.Validate(map[string]any{"bailiff": map[string]any{"tables": all}}); (err == nil) != sound {
			t.Errorf("%s: the schema says %v", text, err)
		}
	}
}

func resolved(t *testing.T, schema func() ([]byte, error)) *jsonschema.Resolved {
	t.Helper()
	text, err := schema()
	must(t, err)
	var s jsonschema.Schema
	must(t, json.Unmarshal(text, &s))
	whole, err := s.Resolve(nil)
	must(t, err)
	return whole
}

func decoded(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	return of(t, text)
}

// of is a text in YAML as the validator takes it.
func of(t *testing.T, text []byte) (value any) {
	t.Helper()
	converted, err := yaml.YAMLToJSON(text)
	must(t, err)
	must(t, json.Unmarshal(converted, &value))
	return value
}

// numbered is a value as the reader takes it.
func numbered(t *testing.T, value any) (all any) {
	t.Helper()
	text, err := json.Marshal(value)
	must(t, err)
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	must(t, decoder.Decode(&all))
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
