// Package docs_test holds the documentation to the code: what a page tells to
// type is typed, what it shows is read by whoever would read it, what it names
// exists, and what it lists completely is complete.
package docs_test

import (
	"encoding/json"
	"errors"
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

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
)

// notTyped are the beginnings of blocks that are not typed, and why.
var notTyped = map[string]string{
	"make test\n":  "it is what runs this test",
	"npm install ": "a session has what scripts/install-clients installed",
}

func isTyped(b block) bool {
	for beginning := range notTyped {
		if strings.HasPrefix(b.text, beginning) {
			return false
		}
	}
	return true
}

var goCommand = regexp.MustCompile(`(?m)\b(make( [a-z-]+)?$|go (build|run|install|test|tool)\b)`)

func compilesGo(b block) bool { return goCommand.MatchString(b.text) }

// lastCompiling is the place of the last block that compiles.
func lastCompiling(typed []block) int {
	last := -1
	for i, b := range typed {
		if compilesGo(b) {
			last = i
		}
	}
	return last
}

func TestWhatAPageTellsToTypeWorks(t *testing.T) {
	for _, p := range pages(t) {
		typed := slices.DeleteFunc(p.blocksOf("sh"), func(b block) bool { return !isTyped(b) })
		if len(typed) == 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			need(t, p)
			if p.name != "README.md" {
				typePage(t, p, typed, true)
				return
			}
			made := 1 + lastCompiling(typed)
			typePage(t, p, typed[:made], false)
			typePage(t, p, typed[made:], true)
		})
	}
}

// need leaves a page out where the machine does not have what it is about.
func need(t *testing.T, p page) {
	t.Helper()
	if strings.Contains(p.text, sandboxImage) {
		needEngine(t)
	}
	if strings.Contains(p.text, "\npromtool ") {
		_, err := exec.LookPath("promtool")
		backendtest.Needs(t, "PROMTOOL (run scripts/install-deps)", err)
	}
}

// typePage types blocks of a page as an ordinary user would, but for those that need what only the tests' own user has: Go's
// cache, the database's socket, the clients from npm.
func typePage(t *testing.T, p page, typed []block, installed bool) {
	t.Helper()
	compiles := slices.ContainsFunc(typed, compilesGo)
	database, clients := strings.Contains(p.text, "$DATABASE_URL"), strings.Contains(p.text, "npm install ")
	s := newSession(t, compiles, !compiles && !database && !clients)
	if database {
		s.database = postgrestest.Start(t).DSN("bailiff")
	}
	if clients {
		s.installClients(t)
	}
	if installed {
		s.install(t)
	}
	printed, err := s.run(t, p.name, typed)
	t.Log(printed)
	if err != nil {
		t.Errorf("the page's commands failed where the above ends: %v", err)
	}
}

// Nobody types the installation of a hook here, but what would be installed asks the
// sidecar that the page has started.
func TestTheSettingsThatAPageMakesAskItsSidecar(t *testing.T) {
	for name, file := range map[string]string{"docs/clients/claude-code.md": "managed-settings.json",
		"docs/clients/codex.md": "requirements.toml", "docs/clients/gemini-cli.md": "settings.json",
		"docs/clients/qwen-code.md": "settings.json"} {
		t.Run(name, func(t *testing.T) {
			typed := read(t, name).blocksOf("sh")
			made := slices.IndexFunc(typed, func(b block) bool { return strings.HasPrefix(b.text, "sed ") })
			if made < 0 {
				t.Fatal("the page makes no settings")
			}
			asks := block{text: `hook=$(grep -o '/usr/local/bin/bailiff-hook .*; }' ` + file + ` | sed 's|^/usr/local/||')
(echo "${question/COMMAND/ls -l}" | bash -c "$hook" || test $? = 2) | grep 'bailiff exec.*ls -l'
`}
			s := newSession(t, false, true)
			s.install(t)
			if printed, err := s.run(t, name, append(typed[:made+1:made+1], asks)); err != nil {
				t.Errorf("%v\n%s", err, printed)
			}
		})
	}
}

// sandboxImage is what scripts/make-image makes.
const sandboxImage = "bailiff-sandbox:test"

// needEngine leaves a page out where there is no Docker engine, unless all is
// required.
func needEngine(t *testing.T) {
	t.Helper()
	if os.Getenv("BAILIFF_REQUIRE_ALL") == "" && exec.Command("docker", "image", "inspect", sandboxImage).Run() != nil {
		t.Skip("SKIPPED WITHOUT DOCKER: run scripts/start-docker and scripts/make-image")
	}
}

// A page may be followed again, or after another page: what it makes may be there already. A folder that is copied over one lands in
// it, where policies are read twice.
func TestWhatAPageTellsToTypeWorksAgain(t *testing.T) {
	once := regexp.MustCompile(`(?m)^.*\bmkdir ([^-]|-m).*$|^.*\bcp -[ar] \S*[^/.\s] \S*[^/\s](\s.*)?$`)
	for text, want := range map[string]bool{"mkdir work": true, "mkdir -m 700 run": true,
		"mkdir -p work && x": false, "x && cp -r policies mine": true,
		"cp -r policies/. mine": false, "cp -r examples/x ~/.plugins/": false} {
		if once.MatchString(text) != want {
			t.Fatalf("%q is taken for the opposite", text)
		}
	}
	for _, p := range pages(t) {
		for _, b := range p.blocksOf("sh") {
			if line := once.FindString(b.text); line != "" && isTyped(b) {
				t.Errorf("%s: say mkdir -p, and copy FOLDER/. into a folder that is there: %s", p.name, line)
			}
		}
	}
}

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
// whoever makes them has them in force.
func TestEditsOfTablesThatAreShownPassTheTests(t *testing.T) {
	known := &passes.Memory{} // so that an edit has the tests run that read what it changes
	for _, p := range pages(t) {
		for _, b := range p.blocksOf("yaml tables") {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(filepath.Join(root, "policies"))); err != nil {
				t.Fatal(err)
			}
			merged, err := yaml.Marshal(map[string]any{"bailiff": map[string]any{"tables": merge(shippedTables(t),
				tables(t, []byte(b.text)))}})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "data.yaml"), merged, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := pdp.Open(t.Context(), pdp.Config{Paths: []string{folder}, RequireTests: true, Passes: known}); err != nil {
				t.Errorf("%s:%d: %v", p.name, b.line, err)
			}
		}
	}
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

func TestEveryMetricIsListed(t *testing.T) {
	text := source(t, "metrics/collection.go")
	want := map[string]bool{}
	for _, m := range regexp.MustCompile(`r\.(?:counters|gauges|histograms)\("([a-z_]+)"`).FindAllStringSubmatch(text, -1) {
		want["bailiff_"+m[1]] = true
	}
	same(t, "docs/metrics.md", want, named(t, "docs/metrics.md", regexp.MustCompile(`^(bailiff_[a-z_]+)`)))
}

func TestEveryRuleIsListed(t *testing.T) {
	want := rules(t)
	same(t, "docs/shipped-policies.md", want, named(t, "docs/shipped-policies.md", ruleShown))
}

// rules are those that the policies, their tables and the Go code can give.
func rules(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, pattern := range []string{"policies/*.rego", "policies/data.yaml", "rules.go", "enforcer/*.go", "internal/pdp/*.go",
		"internal/pdp/answers/*.go", "gateway/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, name := range rulesIn(t, file) {
				all[name] = true
			}
		}
	}
	return all
}

const ruleKinds = `((?:approval|backend|break_glass|code|command|env|floor|log|policy|request|session|tool)\.[a-z_]+)`

var (
	ruleShown = regexp.MustCompile(`^` + ruleKinds + `$`)
	ruleGiven = regexp.MustCompile(`(?:"|rule: |: )` + ruleKinds + `(?:"|,|\n)`)
	ruleNamed = regexp.MustCompile(`[rR]ule[A-Z]\w* += "` + ruleKinds + `"`) // a constant in Go
)

func rulesIn(t *testing.T, file string) (names []string) {
	t.Helper()
	if strings.Contains(file, "_test.") {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pattern := ruleGiven
	if strings.HasSuffix(file, ".go") {
		pattern = ruleNamed
	}
	for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	return names
}

func source(t *testing.T, name string) string {
	t.Helper()
	return read(t, name).text
}

// named are the words in back quotes on a page that match.
func named(t *testing.T, name string, pattern *regexp.Regexp) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, word := range read(t, name).spans() {
		if m := pattern.FindStringSubmatch(word); m != nil {
			found[m[1]] = true
		}
	}
	return found
}

func same(t *testing.T, page string, want, have map[string]bool) {
	t.Helper()
	if len(want) == 0 {
		t.Fatal("nothing was found in the code")
	}
	for name := range want {
		if !have[name] {
			t.Errorf("%s does not list %s", page, name)
		}
	}
	for name := range have {
		if !want[name] {
			t.Errorf("%s lists %s, which does not exist", page, name)
		}
	}
}

func TestTheWholeFloorIsListed(t *testing.T) {
	text := source(t, "enforcer/floor.go")
	_, lists, found := strings.Cut(text, "var forbiddenPrefixes")
	if !found {
		t.Fatal("the floor's lists are not where they were")
	}
	want := map[string]bool{}
	for _, m := range regexp.MustCompile(`"([A-Z0-9_]+)"`).FindAllStringSubmatch(lists, -1) {
		want[m[1]] = true
	}
	_, section, _ := strings.Cut(read(t, "docs/secrets.md").text, "## The floor")
	have := map[string]bool{}
	for _, word := range (page{text: section}).spans() {
		if strings.ToUpper(word) == word {
			have[word] = true
		}
	}
	same(t, "docs/secrets.md", want, have)
}

// The list of all pages leads to each one, of a folder to its first.
func TestEveryPageIsListed(t *testing.T) {
	t.Parallel()
	wantListed(t, "docs")
	listed := read(t, "docs/README.md").links()
	for _, p := range pages(t) {
		if front := strings.TrimPrefix(p.name, "docs/"); strings.HasSuffix(front, "/README.md") && !slices.Contains(listed, front) {
			t.Errorf("docs/README.md does not list %s", p.name)
		}
	}
}

func TestEveryClientIsListed(t *testing.T) { wantListed(t, "docs/clients") }

func TestEveryBackendIsListed(t *testing.T) { wantListed(t, "docs/backends") }

// wantListed wants a folder's first page to lead to each of the others.
func wantListed(t *testing.T, folder string) {
	t.Helper()
	front := folder + "/README.md"
	listed := map[string]bool{front: true}
	for _, target := range read(t, front).links() {
		listed[filepath.Join(folder, target)] = true
	}
	for _, p := range pages(t) {
		if filepath.Dir(p.name) == folder && !listed[p.name] {
			t.Errorf("%s does not list %s", front, p.name)
		}
	}
}
