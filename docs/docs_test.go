// Package docs_test holds the documentation to the code: what a page tells to
// type is typed, what it shows is read by whoever would read it, what it names
// exists, and what it lists completely is complete.
package docs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
)

func TestBlocksAreWhatTheySay(t *testing.T) {
	kinds := map[string]func(*testing.T, string) error{
		"sh": nil, "text": nil, "rego": compiles, "yaml tables": isTables, "yaml pack": isPack("packs"),
		"yaml programs": isPack("programs"),
		"json":          func(_ *testing.T, text string) error { var v any; return json.Unmarshal([]byte(text), &v) },
		"yaml": func(_ *testing.T, text string) error {
			_, err := config.Parse("/etc/bailiff/bailiff.yaml", []byte(text), catalogue.All())
			return err
		},
	}
	for _, p := range pages(t) {
		for _, b := range p.blocks() {
			if file := b.file(); file != "" {
				b.standsIn(t, p, file)
				continue
			}
			check, known := kinds[b.kind]
			if !known {
				t.Errorf("%s:%d: a block of kind %q, want one that is checked, one with the path of the file in which it stands, or text",
					p.name, b.line-1, b.kind)
			}
			if check == nil {
				continue
			}
			if err := check(t, b.text); err != nil {
				t.Errorf("%s:%d: %v", p.name, b.line, err)
			}
		}
	}
}

// standsIn holds a block to the file of this repository that it shows, whole or a
// part: other tests run that file.
func (b block) standsIn(t *testing.T, p page, file string) {
	t.Helper()
	if whole := read(t, file).text; !strings.Contains("\n"+whole, "\n"+b.text) {
		t.Errorf("%s:%d: the block does not stand in %s", p.name, b.line, file)
	}
}

// compiles checks a policy together with the shipped ones, as stock OPA does.
func compiles(t *testing.T, text string) error {
	file := filepath.Join(t.TempDir(), "shown.rego")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	folder := t.TempDir()
	policytest.Copy(t, folder)
	command := exec.Command(stockOPA(t), "check", "--strict", "-s", "schema/input.json", ".", file)
	command.Dir = folder
	printed, err := command.CombinedOutput()
	if err != nil {
		t.Logf("%s", printed)
	}
	return err
}

// isTables accepts entries of tables that exist.
func isTables(t *testing.T, text string) error {
	t.Helper()
	for name := range tables(t, []byte(text)) {
		if _, known := shippedTables(t)[name]; !known {
			t.Errorf("there is no table %s", name)
		}
	}
	return nil
}

// The edits that a page shows leave the shipped policies' own tests alone, so that
// a reader who makes them has them in force. Those that set nothing twice are made together; with BAILIFF_TEST_ALL each is alone.
func TestEditsOfTablesThatAreShownPassTheTests(t *testing.T) {
	var places []string
	edits := map[string]any{}
	known := &passes.Memory{} // so that an edit has the tests run that read what it changes
	try := func() {
		if len(places) > 0 {
			tryEdits(t, known, strings.Join(places, ", "), edits)
		}
		places, edits = nil, map[string]any{}
	}
	for _, p := range pages(t) {
		for _, b := range p.blocksOf("yaml tables") {
			edit := tables(t, []byte(b.text))
			if overlap(edits, edit) || os.Getenv("BAILIFF_TEST_ALL") != "" {
				try()
			}
			places, edits = append(places, fmt.Sprintf("%s:%d", p.name, b.line)), merge(edits, edit)
		}
	}
	try()
}

// tryEdits wants the shipped policies to come into force with an edit of their tables, which is shown at the places.
func tryEdits(t *testing.T, known *passes.Memory, places string, edit map[string]any) {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(root, "policies"))); err != nil {
		t.Fatal(err)
	}
	merged, err := yaml.Marshal(map[string]any{"bailiff": map[string]any{"tables": merge(shippedTables(t), edit)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "data.yaml"), merged, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pdp.Open(t.Context(), pdp.Config{Paths: []string{folder}, RequireTests: true, Passes: known}); err != nil {
		t.Errorf("%s: %v", places, err)
	}
}

// overlap says whether both set one value.
func overlap(a, b map[string]any) bool {
	for name, value := range b {
		other, both := a[name]
		inner, nested := value.(map[string]any)
		outer, alsoNested := other.(map[string]any)
		if both && (!nested || !alsoNested || overlap(outer, inner)) {
			return true
		}
	}
	return false
}

// isPack wants the shipped policies to be sound with the pack, or the family of programs.
func isPack(of string) func(*testing.T, string) error {
	return func(t *testing.T, text string) error {
		folder := t.TempDir()
		file := filepath.Join(folder, "bailiff", of, "team", "data.yaml")
		policytest.Copy(t, folder)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			return err
		}
		if faults := pdp.Check(pdp.Config{Paths: []string{folder}}); len(faults) > 0 {
			return faults
		}
		return nil
	}
}

// merge returns a with what b sets in it.
func merge(a, b map[string]any) map[string]any {
	all := map[string]any{}
	maps.Copy(all, a)
	for name, value := range b {
		if inner, nested := value.(map[string]any); nested {
			outer, _ := all[name].(map[string]any)
			value = merge(outer, inner)
		}
		all[name] = value
	}
	return all
}

func shippedTables(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "policies", "data.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return tables(t, text)
}

func tables(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var data struct {
		Bailiff struct {
			Tables map[string]any `yaml:"tables"`
		} `yaml:"bailiff"`
	}
	if err := yaml.UnmarshalWithOptions(text, &data, yaml.Strict()); err != nil || len(data.Bailiff.Tables) == 0 {
		t.Fatalf("reading tables: %d found, %v", len(data.Bailiff.Tables), err)
	}
	return data.Bailiff.Tables
}

func TestPagesAreShortAndBeginWithWhatTheirReaderCanDo(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		if lines := strings.Count(p.text, "\n"); lines > 200 {
			t.Errorf("%s has %d lines, want 200 at most: split it by task", p.name, lines)
		}
		isList := p.name == "README.md" || p.name == "docs/backends/conformance.md"
		if !isList && filepath.Dir(p.name) != "docs/design" && !strings.Contains(p.text, "\n\nAfter this page ") {
			t.Errorf(`%s does not say after its title what "After this page" its reader can do`, p.name)
		}
	}
}

func TestLinksLeadToFiles(t *testing.T) {
	for _, p := range pages(t) {
		for _, target := range p.links() {
			switch info, err := os.Stat(filepath.Join(root, filepath.Dir(p.name), target)); {
			case err != nil:
				t.Errorf("%s: %v", p.name, err)
			case info.IsDir():
				t.Errorf("%s: %s is a folder, which the site cannot show: name a file of it", p.name, target)
			}
		}
	}
}

var commandShown = regexp.MustCompile(`(?m)(?:^|bin/|[ ;|(])bailiff ((?:[a-z]+ ?)+)((?: ?--?[a-z][a-z-]*)*)`)

// The pages in docs/cli are made of the commands themselves.
func TestCommandsShownExist(t *testing.T) {
	helps := map[string]string{} // by command
	for _, p := range pages(t) {
		if filepath.Dir(p.name) == "docs/cli" {
			continue
		}
		shown := p.spans()
		for _, b := range slices.Concat(p.blocksOf("sh"), p.blocksOf("text")) {
			shown = append(shown, strings.Split(b.text, "\n")...)
		}
		for _, text := range shown {
			for _, m := range commandShown.FindAllStringSubmatch(text, -1) {
				if fault := missing(t, helps, strings.Fields(m[1]), strings.Fields(m[2])); fault != "" {
					t.Errorf("%s: %q: %s", p.name, text, fault)
				}
			}
		}
	}
}

// missing says what of a command line there is not.
func missing(t *testing.T, helps map[string]string, words, flags []string) string {
	t.Helper()
	command := strings.Join(words, " ")
	if helps[command] == "" {
		helps[command] = output(t, filepath.Join(apptest.Programs(t), "bailiff"), append(slices.Clone(words), "--help")...)
	}
	help := helps[command]
	if usage := "bailiff " + words[0]; !strings.Contains(help, usage) {
		return "there is no command " + words[0]
	}
	for _, flag := range flags {
		if !strings.Contains(help, flag) {
			return "there is no flag " + flag
		}
	}
	return ""
}

func TestTheConfigurationReferenceSetsEveryKey(t *testing.T) {
	var files [2]string // the second has what is in the place of something in the first
	for _, page := range []string{"configuration", "configuration-chats", "configuration-backends"} {
		blocks := read(t, "docs/"+page+".md").blocksOf("yaml")
		if len(blocks) == 0 || len(blocks) > len(files) {
			t.Fatalf("docs/%s.md has %d blocks of the reference", page, len(blocks))
		}
		for i, block := range blocks {
			files[i] += block.text
		}
	}
	var shown []reflect.Value
	for _, file := range files {
		c, err := config.Parse("/etc/bailiff/bailiff.yaml", []byte(file), catalogue.All())
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, reflect.ValueOf(*c))
	}
	unset(t, "", shown)
}

// unset finds the fields that a reader of the reference would not hear of. A
// field of listeners counts if one listener sets it.
func unset(t *testing.T, path string, shown []reflect.Value) {
	t.Helper()
	shown = slices.DeleteFunc(shown, reflect.Value.IsZero)
	if len(shown) == 0 {
		t.Errorf("the reference does not set %s", path)
		return
	}
	if shown[0].Type() == reflect.TypeFor[settings.Credential]() {
		return // it is in one place or the other
	}
	switch shown[0].Kind() {
	case reflect.Pointer:
		unset(t, path, each(shown, reflect.Value.Elem))
	case reflect.Struct:
		for i := range shown[0].NumField() {
			if field := shown[0].Type().Field(i); field.Type.Kind() != reflect.Bool { // both values are fine
				unset(t, path+"."+field.Name, each(shown, func(v reflect.Value) reflect.Value { return v.Field(i) }))
			}
		}
	}
}

func each(all []reflect.Value, part func(reflect.Value) reflect.Value) (parts []reflect.Value) {
	for _, v := range all {
		parts = append(parts, part(v))
	}
	return parts
}
