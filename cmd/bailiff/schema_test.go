package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files in schemas are what the command prints. BAILIFF_UPDATE_RESULTS=1 writes them.
func TestTheSchemasInTheRepositoryAreThoseOfTheReaders(t *testing.T) {
	t.Parallel()
	for name, schema := range schemas {
		text, err := schema()
		if err != nil {
			t.Fatal(err)
		}
		file, want := filepath.Join("../../schemas", name+".json"), string(text)+"\n"
		if os.Getenv("BAILIFF_UPDATE_RESULTS") != "" {
			if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if kept, err := os.ReadFile(file); err != nil || string(kept) != want {
			t.Errorf("%s is not what bailiff schema %s prints, %v: run this test with BAILIFF_UPDATE_RESULTS=1", file, name, err)
		}
	}
}

// An editor finds the schema by the first line.
func TestFilesThatPeopleCopyNameTheirSchema(t *testing.T) {
	t.Parallel()
	const key = "# yaml-language-server: $schema="
	for file, schema := range map[string]string{
		"../../policies/data.yaml":                      "../schemas/tables.json",
		"../../policies/bailiff/programs/aws/data.yaml": "../../../../schemas/programs.json",
		"../../examples/systemd/bailiff.yaml":           "../../schemas/config.json",
		"../../release/bailiff.yaml":                    "/usr/share/bailiff/schemas/config.json",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(string(text), "\n"); first != key+schema {
			t.Errorf("%s begins with %q, want %s", file, first, key+schema)
		}
		if beside := filepath.Join(filepath.Dir(file), schema); !filepath.IsAbs(schema) {
			if _, err := os.Stat(beside); err != nil {
				t.Error(err)
			}
		}
	}
}
