package pdp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// edited are the shipped policies with values of the tables set, or dropped where
// they are nil. A colon stands for a dot in a name.
func edited(t *testing.T, edits map[string]any) *policyset.Set {
	t.Helper()
	p, faults := policyset.Load(source.ReadAll, nil)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for at, value := range edits {
		here, names := p.Data, strings.Split("bailiff.tables."+at, ".")
		for i := range names {
			names[i] = strings.ReplaceAll(names[i], ":", ".")
		}
		last := len(names) - 1
		for _, name := range names[:last] {
			if here[name] == nil {
				here[name] = map[string]any{}
			}
			here = here[name].(map[string]any)
		}
		if here[names[last]] = value; value == nil {
			delete(here, names[last])
		}
	}
	return p
}

func TestWhoeverEditsTheTablesLeavesTheTestsAlone(t *testing.T) {
	backendtest.Long(t)
	known := &passes.Memory{} // so that an edit has the tests run that read what it changes
	number := func(n string) any { return json.Number(n) }
	for name, edits := range map[string]map[string]any{
		"sandboxes": {
			"sandboxes.docker.limits.idle_seconds": number("60"), "sandboxes.docker.limits.max_seconds": number("600"),
			"sandboxes.docker.limits.processes": number("2"), "sandboxes.docker.limits.memory_mb": number("512"),
			"sandboxes.docker.limits.pids": number("64"), "sandboxes.docker.limits.disk_mb": number("64"),
			"sandboxes.docker.limits.background_seconds": number("90"), "sandboxes.docker.scope": "user",
			"sandboxes.docker.read_only": false, "sandboxes.docker.persistent": true, "sandboxes.local": nil,
			"unnamed_sandbox.limits.memory_mb": number("512"),
		},
		"limits": {
			"limits.tools.terminal.timeout_seconds": number("90"), "limits.tools.execute_code.output_bytes": number("100"),
			"limits.unasked_timeout_seconds.terminal": number("30"), "limits.unasked_timeout_seconds.execute_code": number("30"),
		},
		"a platform": {
			"platforms.telegram.backends": []any{"bubblewrap"}, "platforms.telegram.take": "ready",
			"platforms.telegram.persistent.docker": true,
			"platforms.telegram.images.docker":     "python:3.12", "platforms.telegram.limits.timeout_seconds": number("20"),
			"platforms.telegram.limits.cpus": number("0.5"), "platforms.cli.backends": []any{"local"},
			"network.platforms.telegram.network": "full",
		},
		"a chat": {
			"chats.telegram/-1001234": map[string]any{
				"backends": []any{"bubblewrap", "docker"}, "take": "ready", "images": map[string]any{"docker": "python:3.13"},
				"persistent": map[string]any{"docker": true}, "limits": map[string]any{"idle_seconds": number("60"),
					"disk_mb": number("9999999")},
				"network": map[string]any{"network": "full"},
			},
			"chats.matrix/!room:example:org/x": map[string]any{"isolation": "required"},
			"chats.cli/42":                     map[string]any{"isolation": "required"},
		},
		"backends of all kinds": {
			"platforms.telegram.backends": []any{"ssh", "apptainer", "modal", "daytona", "vercel", "podman"},
			"platforms.discord.backends":  []any{"singularity"},
			"sandboxes.podman.scope":      "session", "platforms.telegram.images.podman": "debian:12",
			"platforms.discord.images.singularity": "/srv/x.sif",
		},
		"no platforms": {"platforms.telegram": nil, "platforms.discord": nil, "platforms.cli": nil},
		"approvals": {
			"approval.terms.grant_seconds": number("60"), "approval.terms.scopes": []any{"once"},
			"approval.terms.quorum": number("2"), "approval.tools": nil,
		},
		"what is allowed": {
			"callable_tools.terminal": "deny", "callable_tools.web_search": "allow", "env.GITHUB_TOKEN": nil, "env.NPM_TOKEN": nil,
			"verdicts.command:gains_privilege.sandbox": "deny", "verdicts.command:gains_privilege.host": "allow",
			"hidden_rules.command:destroys_system": true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := edited(t, edits)
			ended := regotest.Require(context.Background(), p, known)
			if faults := append(p.CheckMore(nil), ended.Faults...); len(faults) > 0 {
				t.Error(faults)
			}
			must(t, known.Keep(ended.Passed))
		})
	}
}

func TestTablesThatSayWhatNobodyReadsDoNotComeIntoForce(t *testing.T) {
	backendtest.Evaluates(t)
	for name, c := range map[string]struct{ text, want string }{
		"a key of a platform": {"platforms:\n  teams:\n    persistant: {docker: true}",
			`data.yaml:5: bailiff.tables.platforms.teams.persistant: unknown key, nearest valid key is "persistent"`},
		"truth where backends are": {"platforms:\n  teams:\n    persistent: true",
			`data.yaml:5: bailiff.tables.platforms.teams.persistent: is true, want an object with a value for each backend`},
		"a backend": {"platforms: {teams: {persistent: {dokcer: true}}}",
			`data.yaml:3: bailiff.tables.platforms.teams.persistent.dokcer: unknown backend, nearest valid backend is "docker"`},
		"a backend by both names": {"platforms: {teams: {images: {apptainer: a, singularity: b}}}",
			`data.yaml:3: bailiff.tables.platforms.teams.images.singularity: is another name of apptainer, of which something else is ` +
				`said`},
		"a row of no backend": {"sandboxes: {dokcer: {}}",
			`data.yaml:3: bailiff.tables.sandboxes.dokcer: unknown backend, nearest valid backend is "docker"`},
		"a backend without a row": {"platforms: {teams: {backends: [podman]}}\nsandboxes: {docker: {}}",
			`data.yaml:3: bailiff.tables.platforms.teams.backends.0: "podman": unknown word`},
		"a backend of a list": {"platforms:\n  teams:\n    backends:\n    - docker\n    - bubblewarp",
			`data.yaml:7: bailiff.tables.platforms.teams.backends.1: "bubblewarp": unknown word, nearest valid word is "bubblewrap"`},
		"isolation": {"platforms: {teams: {isolation: requird}}",
			`"requird": unknown word, nearest valid word is "required"`},
		"what is taken": {"platforms: {teams: {take: redy}}", `"redy": unknown word, nearest valid word is "ready"`},
		"a chat without a platform": {"chats: {'42': {take: ready}}",
			`data.yaml:3: bailiff.tables.chats.42: is no chat, want a platform and the id of a chat of its, as in telegram/-1001234`},
		"a chat of no platform": {"platforms: {slack: {}}\nchats: {slakc/42: {}}",
			`data.yaml:4: bailiff.tables.chats.slakc/42: the chat is of an unknown platform, nearest valid platform is "slack"`},
		"a key of a chat": {"platforms: {slack: {}}\nchats: {slack/42: {imagse: {}}}",
			`chats.slack/42.imagse: unknown key, nearest valid key is "images"`},
		"a chat that isolates less": {"platforms: {slack: {isolation: required}}\nchats: {slack/42: {isolation: optional}}",
			`chats.slack/42.isolation: is optional, and platform slack requires it: a chat can only be stricter`},
		"a chat with more than all": {"platforms: {slack: {limits: {pids: 9}}}\nchats: {slack/42: {limits: {pids: 10}}}",
			`chats.slack/42.limits.pids: is 10, and the limit of platform slack is 9: a chat can only be stricter`},
		"a chat that lives too long": {"platforms: {slack: {backends: [docker]}}\nsandboxes: {docker: {limits: {idle_seconds: 60}}}\n" +
			"chats: {slack/42: {limits: {idle_seconds: 61}}}",
			`chats.slack/42.limits.idle_seconds: is 61, and its sandboxes may have 60 at most: raise that in the table sandboxes`},
		"a limit": {"sandboxes: {docker: {limits: {idle_secnds: 60}}}",
			`data.yaml:3: bailiff.tables.sandboxes.docker.limits.idle_secnds: unknown key, nearest valid key is "idle_seconds"`},
		"no time at all": {"sandboxes: {docker: {limits: {idle_seconds: 0}}}",
			`data.yaml:3: bailiff.tables.sandboxes.docker.limits.idle_seconds: is 0, want a whole number from 1 to 2147483647`},
		"part of a second": {"limits: {tools: {terminal: {timeout_seconds: 1.5}}}", `is 1.5, want a whole number`},
		"a number as text": {"unnamed_sandbox: {limits: {pids: '9'}}", `is "9", want a whole number`},
		"no processor":     {"unnamed_sandbox: {limits: {cpus: 0}}", `cpus: is 0, want a number above 0`},
		"a tool of the limits": {"limits: {unasked_timeout_seconds: {terminl: 9}}",
			`terminl: unknown tool, nearest valid tool is "terminal"`},
		"a word on a tool": {"callable_tools: {web_search: alow}",
			`data.yaml:3: bailiff.tables.callable_tools.web_search: "alow": unknown word, nearest valid word is "allow"`},
		"terminal is not asked of": {"callable_tools: {terminal: ask}", `callable_tools.terminal: "ask": unknown word`},
		"a tool that none can be": {"callable_tools: {Web-Search: allow}",
			`callable_tools.Web-Search: no script may call a tool of that name`},
		"a network": {"network: {platforms: {slack: {network: ful}}}",
			`"ful": unknown word, nearest valid word is "full"`},
		"a scope of approvals": {"approval: {terms: {scopes: [allways]}}", `"allways": unknown word, nearest valid word is "always"`},
		"a condition of a variable": {"env: {X: [{platforms: ['*'], program: [git]}]}",
			`bailiff.tables.env.X.0.program: unknown key, nearest valid key is "programs"`},
		"a condition that is a word": {"env: {X: [{platforms: ['*'], programs: git}]}", `env.X.0.programs: is "git", want a list`},
		"a verdict": {"verdicts: {command.kills_processes: {sandbx: deny}}",
			`unknown key, nearest valid key is "sandbox"`},
		"a rule that is hidden": {"hidden_rules: {command.kills_processes: 'yes'}", `is "yes", want true or false`},
		"a rule's remedy": {"classes: {x: {rule: command.kills_processes}}\ninstead: {command.kill_processes: Wait.}",
			`data.yaml:4: bailiff.tables.instead.command.kill_processes: unknown rule, nearest known rule is "command.kills_processes"`},
		"a grade": {"classes: {x: {severity: hihg}}",
			`classes.x.severity: "hihg": unknown word, nearest valid word is "high"`},
		"a grade that is a number": {"classes: {x: {severity: 3}}", `classes.x.severity: is 3, want one of low, medium, high, critical`},
		"a technique": {"classes: {x: {attack: [T1059, T105]}}",
			`classes.x.attack.1: is "T105", want a technique of ATT&CK, as T1059 or T1059.004`},
		"techniques that are a text": {"classes: {x: {attack: T1059}}", `classes.x.attack: is "T1059", want a list`},
		"a column of the classes":    {"classes: {x: {severty: high}}", `classes.x.severty: unknown key, nearest valid key is "severity"`},
		"a remedy that is no text":   {"instead: {mine.rule: [Wait]}", `instead.mine.rule: is a list, want text`},
		"a rule that is observed for long": {"observe: {command.kills_processes: {until: '2999-01-01'}}",
			`data.yaml:3: bailiff.tables.observe.command.kills_processes.until: is more than 30 days from now, want 20`},
		"a rule that is observed for good": {"observe: {command.kills_processes: {}}",
			`observe.command.kills_processes: has no until, want the last day on which the rule is observed, such as "2026-12-24"`},
		"a day that is none": {"observe: {command.kills_processes: {until: 2026-02-30}}",
			`observe.command.kills_processes.until: is "2026-02-30", want a day in quotes`},
		"a row that is a day": {"observe: {command.kills_processes: '2026-02-03'}",
			`observe.command.kills_processes: is "2026-02-03", want an`},
		"a rule that is never observed": {"observe: {command.reads_credentials: {until: '2026-02-03'}}",
			`observe.command.reads_credentials: this rule is never observed`},
		"a denial of the session that is observed": {"observe: {session.unknown_platform: {until: '2026-02-03'}}",
			`observe.session.unknown_platform: rules of session are never observed`},
		"a whole table":         {"platforms: [telegram]", `bailiff.tables.platforms: is a list, want an object`},
		"a table that is empty": {"platforms:", `bailiff.tables.platforms: is null, want an object`},
		"behind an anchor": {"x: &x {idle_secnds: 60}\nsandboxes: {docker: {limits: *x}}",
			`data.yaml:3: bailiff.tables.sandboxes.docker.limits.idle_secnds: unknown key`},
		"merged from an anchor": {"x: &x {idle_secnds: 60}\nsandboxes: {docker: {limits: {<<: *x}}}",
			`data.yaml:4: bailiff.tables.sandboxes.docker.limits.idle_secnds: unknown key`},
	} {
		t.Run(name, func(t *testing.T) {
			text := "bailiff:\n tables:\n  " + strings.ReplaceAll(c.text, "\n", "\n  ")
			root := tree(t, map[string]string{"p.rego": allowing, "p_test.rego": allowingTest, "data.yaml": text})
			for command, wrong := range map[string]error{"check": source.Faults(Check(Config{Paths: []string{root}})),
				"start":        opening(root, false),
				"tested start": opening(root, true)} {
				if wrong == nil || !strings.Contains(wrong.Error(), c.want) || strings.Contains(wrong.Error(), "\n") {
					t.Errorf("%s: got %v, want %s", command, wrong, c.want)
				}
			}
		})
	}
}

func TestATableThatRulesLookUpAndNobodyHasDoesNotComeIntoForce(t *testing.T) {
	looking := strings.Replace(allowing, "package bailiff",
		"package bailiff\n\nimport data.bailiff.tables\n\ndeny contains x if some x in tables.verdicts", 1)
	made := "package bailiff.tables\n\nverdicts := {\"x\": {\"host\": \"deny\"}}"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"none at all": {nil, `p.rego:5: the rules look up bailiff.tables.verdicts, which no data holds: want it there, if only as {}`},
		"others": {map[string]string{"data.yaml": "bailiff: {tables: {platforms: {}}}"},
			`p.rego:5: the rules look up bailiff.tables.verdicts`},
		"a misspelt one": {map[string]string{"data.yaml": "bailiff:\n  tables:\n    verdict: {}"},
			`data.yaml:3: bailiff.tables.verdict: no rule looks this table up, and "verdicts", which rules do look up, is missing: write ` +
				`that`},
		"misspelt itself": {map[string]string{"data.yaml": "bailiff: {tables: {verdicts: {}, platforms: {}}}",
			"more.rego": "package bailiff\n\nx := data.bailiff.tables.platfroms\n\ny := data.bailiff.tables.platforms"},
			`more.rego:3: the rules look up bailiff.tables.platfroms, which no data holds: want platforms, or the table there, if only ` +
				`as {}`},
		"an empty one":     {map[string]string{"data.yaml": "bailiff: {tables: {verdicts: {}}}"}, ""},
		"one a rule makes": {map[string]string{"made.rego": made}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"p.rego": looking, "p_test.rego": allowingTest}
			maps.Copy(files, c.files)
			root := tree(t, files)
			for command, wrong := range map[string]source.Faults{"check": Check(Config{Paths: []string{root}}),
				"start": startingWith(root)} {
				if got := wrong.Error(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
					t.Errorf("%s: got %q, want %q", command, got, c.want)
				}
			}
		})
	}
}

func startingWith(root string) (faults source.Faults) {
	errors.As(opening(root, false), &faults)
	return faults
}

func TestEveryShippedRuleSaysWhatWouldBeAllowedInstead(t *testing.T) {
	backendtest.Evaluates(t)
	p := edited(t, nil)
	instead := p.Tables()["instead"].(map[string]any)
	rules := map[string]bool{}
	for _, class := range p.Tables()["classes"].(map[string]any) {
		rules[class.(map[string]any)["rule"].(string)] = true
	}
	for file, module := range p.All() {
		if strings.HasSuffix(file, "_test.rego") {
			continue
		}
		ast.WalkTerms(module, func(term *ast.Term) bool {
			if said, ok := term.Value.(ast.Object); ok && said.Get(ast.StringTerm("message")) != nil {
				if rule, ok := said.Get(ast.StringTerm("rule")).Value.(ast.String); ok {
					rules[string(rule)] = true
				}
			}
			return false
		})
	}
	if len(rules) < 40 || !rules["command.mounts"] || !rules["approval.unattended"] {
		t.Fatalf("only these rules were found: %v", rules)
	}
	delete(rules, "advise.program") // it refuses nothing
	for rule := range rules {
		if text, _ := instead[rule].(string); bailiff.Sentence(text) != text || len(text) < 10 || len(text) > 120 {
			t.Errorf("%s says %q instead, want one short sentence", rule, text)
		}
	}
	for rule := range instead {
		if !rules[rule] {
			t.Errorf("no shipped rule is called %s", rule)
		}
	}
}

func TestAKindThatNoRuleLooksAtIsRefused(t *testing.T) {
	backendtest.Long(t)
	for _, c := range []struct {
		at    string
		value any
		want  string
	}{
		{"programs.wipe-cache", []any{"deletes_recursivly"},
			`bailiff.tables.programs.wipe-cache.0: "deletes_recursivly": unknown kind, nearest valid kind is "deletes_recursively"`},
		{"actions.systemctl.stop", []any{"servicess"}, `"servicess": unknown kind, nearest valid kind is "services"`},
		{"paths.writes.folders./srv/data", "sistem", `"sistem": unknown kind, nearest valid kind is "system"`},
		{"programs.wipe-cache", []any{"deletes_recursively", "deletes"}, ""},
		{"paths.writes.folders./srv/data", "free", ""},
	} {
		got := edited(t, map[string]any{c.at: c.value}).CheckMore(nil).Error()
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.at, got, c.want)
		}
	}
}

func opening(root string, tested bool) error {
	_, err := Open(context.Background(), Config{Paths: []string{root}, RequireTests: tested})
	return err
}

func TestFaultsOfTablesAreInTheFileThatHoldsThem(t *testing.T) {
	root := tree(t, map[string]string{
		"p.rego": allowing, "data.yaml": "bailiff: {tables: {platforms: {teams: {isolation: required}}}}",
		"bailiff/tables/data.json":           "{\n  \"callable_tools\": {\n    \"web_search\": \"alow\"}}",
		"bailiff/tables/sandboxes/data.yaml": "docker:\n  scop: user",
	})
	want := []string{
		filepath.Join(root, `bailiff/tables/data.json:3: bailiff.tables.callable_tools.web_search: "alow": unknown word, nearest valid `+
			`word is "allow"`),
		filepath.Join(root, `bailiff/tables/sandboxes/data.yaml:2: bailiff.tables.sandboxes.docker.scop: unknown key, nearest valid key `+
			`is "scope"`),
	}
	if got := source.Faults(Check(Config{Paths: []string{root}})).Error(); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestATeamsOwnTablesAreItsOwn(t *testing.T) {
	root := tree(t, map[string]string{"p.rego": allowing,
		"data.yaml": "bailiff: {tables: {shifts: {night: [22, 6], scop: x}, oncall: ana, nobody: }}"})
	if faults := Check(Config{Paths: []string{root}}); len(faults) > 0 {
		t.Error(faults)
	}
}

// The program starts without checking its own policies, so this must.
func TestTheShippedPoliciesAreSound(t *testing.T) {
	backendtest.Long(t)
	if faults := Check(Config{Paths: []string{copied(t)}}); len(faults) > 0 {
		t.Error(faults)
	}
}

// The program's own policies are read in a shorter way, to the same end.
func TestTheProgramsOwnPoliciesAreReadAsAnyOthers(t *testing.T) {
	t.Parallel()
	backendtest.Long(t)
	files, faults := source.ReadAll(nil)
	own, wrong := policyset.ParseReleased(files)
	all, more := policyset.Parse(files)
	if len(faults)+len(wrong)+len(more) > 0 {
		t.Fatal(faults, wrong, more)
	}
	one, err := ast.InterfaceToValue(own.Data)
	must(t, err)
	other, err := ast.InterfaceToValue(all.Data)
	must(t, err)
	if one.String() != other.String() {
		t.Error("the tables are others than those that OPA reads")
	}
	short, faults := own.Compile(false)
	long, wrong := all.Compile(false)
	if len(faults)+len(wrong) > 0 {
		t.Fatal(faults, wrong)
	}
	for name, module := range long.Modules {
		if text := short.Modules[name].String(); text != module.String() {
			t.Errorf("%s becomes\n%s\nwant\n%s", name, text, module)
		}
	}
}
