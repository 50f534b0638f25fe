package policies_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/bailiff-dev/bailiff"
	judged "github.com/bailiff-dev/bailiff/internal/judging/tables"
	"github.com/bailiff-dev/bailiff/policies"
)

func TestAMisspeltInputIsRefused(t *testing.T) {
	for _, c := range []struct{ name, condition, fault string }{
		{"as it is spelt", `input.session.platform == "cli"`, ""},
		{"a misspelt key of the input", `input.sesion.platform == "cli"`, "sesion"},
		{"a misspelt key below", `input.session.platfrom == "cli"`, "platfrom"},
		{"a misspelt key of a call", `input.command.calls[_].progam == "rm"`, "progam"},
		{"a misspelt key of code", `input.code.complte`, "complte"},
		{"a number where a name is", `input.session.platform == 7`, "match error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			added := "package bailiff\n\ndeny contains {\"rule\": \"a.b\", \"message\": \"x\"} if {\n\t" + c.condition + "\n}\n"
			err := compiled(t, map[string]string{"added.rego": added})
			switch {
			case c.fault == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
				t.Errorf("got %v, want an error about %s", err, c.fault)
			}
		})
	}
}

func TestAnAddedFileContributesToEverySet(t *testing.T) {
	added := `package bailiff

findings contains {"rule": "team.finding", "message": "Found.", "match": "x"} if input.args.command == "findings"

deny contains {"rule": "team.denial", "message": "Denied."} if input.args.command == "deny"

require_approval contains {"rule": "team.question", "message": "Asked.", "quorum": 2, "scopes": ["once"]} if {
	input.args.command == "require_approval"
}

forward_env contains "TEAM_NAME" if input.args.command != "withhold_env"

withhold_env contains {"name": "TEAM_NAME", "rule": "team.withheld"} if input.args.command == "withhold_env"

backend_candidates contains {"name": "vault", "rank": -1} if input.args.command == "backend_candidates"

limits contains {"timeout_seconds": 7, "memory_mb": 64} if input.args.command == "limits"

networks contains {"network": "none"} if input.args.command == "networks"
`
	query := prepared(t, tables(t), map[string]string{"team.rego": added})
	for _, c := range []struct{ set, path, want string }{
		{"findings", "approval.reasons.0.rule", "team.finding"},
		{"deny", "denials.0.rule", "team.denial"},
		{"require_approval", "approval.quorum", "2"},
		{"require_approval", "approval.scopes", "[once]"},
		{"forward_env", "env.forward", "[TEAM_NAME]"},
		{"withhold_env", "env.withheld.0.rule", "team.withheld"},
		{"backend_candidates", "backend.name", "vault"},
		{"limits", "limits.timeout_seconds", "7"},
		{"limits", "backend.memory_mb", "64"},
		{"networks", "backend.network", "none"},
		{"nothing", "backend.network", "full"},
		{"nothing", "outcome", "allow"},
	} {
		asked := request(c.set)
		asked["env"] = map[string]any{"requested": []any{"TEAM_NAME"}, "available": []any{"TEAM_NAME"}}
		if got := fmt.Sprint(at(decided(t, query, asked), c.path)); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.set, c.path, got, c.want)
		}
	}
}

// A word in the tables that no rule knows would find nothing, in silence.
func TestTheRowsOfMCPServersNameToolsAndTheirArguments(t *testing.T) {
	data := tables(t)
	all := at(data, "bailiff.tables").(map[string]any)
	for server, tools := range all["mcp_arguments"].(map[string]any) {
		for tool := range tools.(map[string]any) {
			if words, _ := all["mcp_tools"].(map[string]any)[server].(map[string]any); tool != "*" && words[tool] == nil {
				t.Errorf("mcp_arguments names the tool %s of %s, mcp_tools does not", tool, server)
			}
		}
	}
	query := prepared(t, data, nil)
	for _, c := range []struct{ server, name, argument, value, odd string }{
		{"filesystem", "read_text_file", "path", "a.txt", "../a.txt"},
		{"filesystem", "write_file", "path", "a.txt", "file:///a.txt"},
		{"git", "git_status", "repo_path", ".", "a/../b"},
		{"fetch", "fetch", "url", "https://docs.example.com/", "file:///etc/passwd"},
		{"postgres", "query", "sql", "select 1", "drop table users"},
		{"playwright", "browser_navigate", "url", "https://docs.example.com/", "javascript:alert(1)"},
	} {
		for value, want := range map[string]bool{c.value: true, c.odd: false} {
			input := request("true")
			delete(input, "command")
			input["tool"] = "mcp"
			input["args"] = map[string]any{"server": c.server, "name": c.name, "arguments": map[string]any{c.argument: value}}
			answer := decided(t, query, input)
			if outcome := at(answer, "outcome"); (outcome == "allow") != want {
				t.Errorf("%s %s %s: %v", c.server, c.name, value, answer)
			}
		}
	}
}

func TestEveryKindInTheTablesIsKnown(t *testing.T) {
	all := tables(t)["bailiff"].(map[string]any)["tables"].(map[string]any)
	known := maps.Clone(all["classes"].(map[string]any))
	for _, source := range sources(t, nil) {
		for _, rule := range ast.MustParseModule(source).Rules {
			if name := rule.Head.Ref(); name[0].Value.String() == "_examined" {
				known[string(name[1].Value.(ast.String))] = true
			}
		}
	}
	for _, table := range []string{"programs", "options", "actions", "features", "code_calls"} {
		for _, kind := range leaves(all[table]) {
			if known[kind] == nil {
				t.Errorf("%s: nobody knows the kind %q", table, kind)
			}
		}
	}
	for _, use := range []string{"reads", "writes"} {
		for _, kind := range leaves(all["paths"].(map[string]any)[use]) {
			if known[kind] == nil && kind != "free" {
				t.Errorf("paths.%s: nobody knows the kind %q", use, kind)
			}
		}
	}
}

func TestEveryRuleOfTheVerdictsIsARule(t *testing.T) {
	all := tables(t)["bailiff"].(map[string]any)["tables"].(map[string]any)
	rules := map[any]bool{}
	for _, class := range all["classes"].(map[string]any) {
		rules[class.(map[string]any)["rule"]] = true
	}
	for rule := range all["verdicts"].(map[string]any) {
		if !rules[rule] {
			t.Errorf("verdicts: no class has the rule %q", rule)
		}
	}
}

// A person can never lift a denial.
func TestEachClassThatIsDeniedSaysWhyNoOwnerWouldWantIt(t *testing.T) {
	all := tables(t)["bailiff"].(map[string]any)["tables"].(map[string]any)
	unwanted := all["unwanted"].(map[string]any)
	for name, class := range all["classes"].(map[string]any) {
		row, _ := all["verdicts"].(map[string]any)[class.(map[string]any)["rule"].(string)].(map[string]any)
		if why, _ := unwanted[name].(string); (row["host"] == "deny") != (why != "") {
			t.Errorf("%s is %v on the host, and no owner would want it, since %q", name, row["host"], why)
		}
	}
}

// The page lists each class of findings as data.yaml grades it. BAILIFF_UPDATE_RESULTS=1 writes the list.
func TestTheCheckOfTheTableObserveKnowsWhatTheRulesNeverObserve(t *testing.T) {
	query := preparedFor(t, "data.bailiff.told", tables(t), map[string]string{"told.rego": "package bailiff\n\n" +
		"told := {\"rules\": _unobserved, \"families\": _unobserved_families, \"days\": _most_observed_days}\n"})
	told, _ := decided(t, query, request("ls")).(map[string]any)
	for name, want := range map[string][]string{"rules": judged.Unobserved, "families": judged.UnobservedFamilies,
		"days": {fmt.Sprint(judged.MostObservedDays)}} {
		have := strings.Fields(strings.Trim(fmt.Sprint(told[name]), "[]"))
		slices.Sort(have)
		if want = slices.Sorted(slices.Values(want)); !slices.Equal(have, want) {
			t.Errorf("%s: the rules have %v, the check %v", name, have, want)
		}
	}
}

func TestTheTableOfRulesOfThePageIsThatOfTheClasses(t *testing.T) {
	const page, begin, end = "../docs/shipped-policies.md", "<!-- rules, from data.yaml -->\n", "<!-- end of rules -->"
	text, err := os.ReadFile(page)
	must(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	shown, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no list between %q and %q", page, begin, end)
	}
	want := listed(tables(t)["bailiff"].(map[string]any)["tables"].(map[string]any)["classes"].(map[string]any))
	if shown != want && os.Getenv("BAILIFF_UPDATE_RESULTS") != "" {
		must(t, os.WriteFile(page, []byte(before+begin+want+end+after), 0o644))
	} else if shown != want {
		t.Errorf("%s shows\n%s\nwant\n%s", page, shown, want)
	}
}

// listed are classes as rows of a table, by their rules.
func listed(classes map[string]any) string {
	var rows []string
	for _, class := range classes {
		columns := class.(map[string]any)
		var techniques []string
		attack, _ := columns["attack"].([]any)
		for _, id := range attack {
			techniques = append(techniques, fmt.Sprint(id))
		}
		severity, _ := columns["severity"].(string)
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n",
			columns["rule"], columns["message"], severity, strings.Join(techniques, ", ")))
	}
	slices.Sort(rows)
	return "\n| rule | found | severity | ATT&CK |\n|---|---|---|---|\n" + strings.Join(rows, "") + "\n"
}

// Each group of rules says what it is about, for people and for tools that read annotations.
func TestEachFileOfRulesHasATitleAndADescriptionAndATestBesideIt(t *testing.T) {
	for name, source := range sources(t, nil) {
		module := ast.MustParseModuleWithOpts(source, ast.ParserOptions{ProcessAnnotation: true})
		for _, about := range module.Annotations {
			if about.Title == "" || about.Description == "" {
				t.Errorf("%s:%d: want a title and a description", name, about.Location.Row)
			}
		}
		first := func(a *ast.Annotations) bool {
			return a.EndLoc().Row < module.Rules[0].Location.Row && a.Scope != "package"
		}
		if !slices.ContainsFunc(module.Annotations, first) {
			t.Errorf("%s: its first rule has no annotation", name)
		}
		if _, err := policies.FS.ReadFile(strings.TrimSuffix(name, ".rego") + "_test.rego"); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkTables compares one decision over tables of 400 and of 4,000 more entries.
func BenchmarkTables(b *testing.B) {
	for _, entries := range []int{400, 4000} {
		b.Run(fmt.Sprint(entries), func(b *testing.B) {
			query := prepared(b, grown(b, entries), nil)
			asked, err := ast.InterfaceToValue(request("git status"))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := query.Eval(context.Background(), rego.EvalParsedInput(asked)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// grown are the shipped tables with so many more entries in each that is looked up.
func grown(t testing.TB, entries int) map[string]any {
	t.Helper()
	data := tables(t)
	all := data["bailiff"].(map[string]any)["tables"].(map[string]any)
	for i := range entries {
		name := fmt.Sprintf("entry%d", i)
		all["platforms"].(map[string]any)[name] = map[string]any{"isolation": "required", "backends": []any{"docker"}}
		all["programs"].(map[string]any)[name] = []any{"privilege"}
		all["env"].(map[string]any)[name] = []any{map[string]any{"platforms": []any{"*"}}}
		all["env_never"].(map[string]any)["prefixes"].(map[string]any)[name] = "env.loader"
		all["hosts"].(map[string]any)["metadata"].(map[string]any)[name] = true
		for _, use := range []string{"reads", "writes"} {
			all["paths"].(map[string]any)[use].(map[string]any)["folders"].(map[string]any)["/"+name] = "system"
		}
	}
	return data
}

func request(command string) map[string]any {
	call := map[string]any{"program": "git", "argv": []any{"git", "status"}, "flags": []any{}, "operands": []any{"status"},
		"wrappers": []any{}, "assigns": []any{}, "reads": []any{"src/main.go"}, "writes": []any{"/workspace/a/b"}, "pipes_to": ""}
	return map[string]any{
		"tool": "terminal", "args": map[string]any{"command": command, "timeout": 0}, "caller": map[string]any{"name": "test"},
		"session": map[string]any{"id": "s", "platform": "cli", "unattended": false},
		"command": map[string]any{"text": command, "parsed": true, "complete": true, "programs": []any{"git"}, "calls": []any{call},
			"hosts": []any{"example.com"}, "reads": []any{"src/main.go"}, "writes": []any{"/workspace/a/b"}, "variables": []any{},
			"features": []any{}, "assigns": []any{}},
		"env": map[string]any{"requested": []any{}, "available": []any{}},
		"backend": map[string]any{"requested": "", "available": map[string]any{
			"local": map[string]any{"isolated": false, "ready": true}, "vault": map[string]any{"isolated": false, "ready": true}}},
		"time": "2026-11-21T12:00:00Z",
	}
}

// sources are the shipped policies without their tests, and what is added.
func sources(t testing.TB, added map[string]string) map[string]string {
	t.Helper()
	names, err := fs.Glob(policies.FS, "*.rego")
	must(t, err)
	all := maps.Clone(added)
	if all == nil {
		all = map[string]string{}
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.rego") {
			continue
		}
		text, err := policies.FS.ReadFile(name)
		must(t, err)
		all[name] = string(text)
	}
	return all
}

func tables(t testing.TB) map[string]any {
	t.Helper()
	text, err := policies.FS.ReadFile("data.yaml")
	must(t, err)
	text, err = yaml.YAMLToJSON(text)
	must(t, err)
	var data map[string]any
	must(t, json.Unmarshal(text, &data))
	return data
}

// compiled checks as "opa check --strict -s policies/schema/input.json" does.
func compiled(t *testing.T, added map[string]string) error {
	t.Helper()
	text, err := policies.FS.ReadFile("schema/input.json")
	must(t, err)
	var schema any
	must(t, json.Unmarshal(text, &schema))
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.SchemaRootRef, schema)
	modules := map[string]*ast.Module{}
	for name, source := range sources(t, added) {
		modules[name] = ast.MustParseModuleWithOpts(source, ast.ParserOptions{ProcessAnnotation: true})
	}
	compiler := ast.NewCompiler().WithStrict(true).WithSchemas(schemas).WithUseTypeCheckAnnotations(true)
	if compiler.Compile(modules); compiler.Failed() {
		return compiler.Errors
	}
	return nil
}

func prepared(t testing.TB, data map[string]any, added map[string]string) rego.PreparedEvalQuery {
	t.Helper()
	return preparedFor(t, "data.bailiff.decision", data, added)
}

func preparedFor(t testing.TB, about string, data map[string]any, added map[string]string) rego.PreparedEvalQuery {
	t.Helper()
	options := []func(*rego.Rego){
		rego.Query(about),
		rego.Store(inmem.NewFromObjectWithOpts(data, inmem.OptReturnASTValuesOnRead(true))),
	}
	for name, source := range sources(t, added) {
		options = append(options, rego.Module(name, source))
	}
	query, err := rego.New(options...).PrepareForEval(context.Background())
	must(t, err)
	return query
}

func decided(t testing.TB, query rego.PreparedEvalQuery, input any) any {
	t.Helper()
	results, err := query.Eval(context.Background(), rego.EvalInput(input))
	must(t, err)
	if len(results) != 1 {
		t.Fatalf("the decision is undefined for %v", input)
	}
	return results[0].Expressions[0].Value
}

// at follows a path of keys and positions into a document.
func at(document any, path string) any {
	for _, key := range strings.Split(path, ".") {
		switch d := document.(type) {
		case map[string]any:
			document = d[key]
		case []any:
			if len(d) == 0 {
				return nil
			}
			document = d[0]
		}
	}
	return document
}

// leaves are all words in a table, sorted.
func leaves(table any) []string {
	var all []string
	switch v := table.(type) {
	case string:
		all = append(all, v)
	case []any:
		for _, e := range v {
			all = append(all, leaves(e)...)
		}
	case map[string]any:
		for _, e := range v {
			all = append(all, leaves(e)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What is written twice is changed once: a program has one entry. A verb holds no option, since operands hold none.
func TestAProgramHasOneEntry(t *testing.T) {
	homes := map[string]string{}
	for family, programs := range families(t) {
		for name, said := range programs {
			if other := homes[name]; other != "" {
				t.Errorf("%s is in %s and %s", name, other, family)
			}
			homes[name] = family
			for verb := range said.Verbs {
				if strings.HasPrefix(verb, "-") || strings.Contains(verb, " -") {
					t.Errorf("%s: %s: the verb %q holds an option", family, name, verb)
				}
			}
			if like := programs[said.Like]; said.Like != "" && like.Verbs == nil && like.Options == nil && like.Families == nil {
				t.Errorf("%s: %s is like %s, of which the family describes no word", family, name, said.Like)
			}
		}
	}
}

// described is what an entry says of the words of a program.
type described struct {
	Like                     string
	Verbs, Options, Families map[string][]string
}

// families are the entries of each file of programs.
func families(t *testing.T) map[string]map[string]described {
	t.Helper()
	names, err := fs.Glob(policies.FS, "bailiff/programs/*/data.yaml")
	must(t, err)
	all := map[string]map[string]described{}
	for _, name := range names {
		text, err := policies.FS.ReadFile(name)
		must(t, err)
		var programs map[string]described
		must(t, yaml.Unmarshal(text, &programs))
		all[name] = programs
	}
	if len(all) == 0 {
		t.Fatal("no family was found")
	}
	return all
}

func TestEachProtectedPlaceSaysWhereItIsWritten(t *testing.T) {
	text, err := policies.FS.ReadFile("data.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Bailiff struct {
			Tables struct{ Protected map[string]any }
		}
	}
	if err := yaml.Unmarshal(text, &data); err != nil || len(data.Bailiff.Tables.Protected) < 200 {
		t.Fatalf("%d places are protected, %v", len(data.Bailiff.Tables.Protected), err)
	}
	for name, source := range data.Bailiff.Tables.Protected {
		if said, ok := source.(string); !ok || !strings.ContainsAny(said, ".(") || !bailiff.IsProtectable(name) {
			t.Errorf("%s is protected because of %v, want a manual's page or an address", name, source)
		}
	}
}
