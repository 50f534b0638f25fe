// Package tables reads the tables of the shipped policies as strictly as decisions
// are read.
//
// A word in a table that no rule looks up counts for nothing, in silence: a sandbox
// that was to be bounded is not, a tool that was to be asked about is denied. So a
// misspelt key or word, a value of another type and a limit that is no limit are
// faults, whichever backends and platforms are in use.
//
// What is not here: tables of other names, which are a team's own, and tables that
// consist of nothing but names of the world outside.
package tables

import (
	"maps"
	"regexp"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Fault is one thing that is wrong: the keys that lead there, numbers for elements
// of lists, and a sentence.
type Fault struct {
	At    []string
	Wrong string
}

// Check lists what is wrong in data.bailiff.tables, decoded with [json.Number] for
// numbers. A kind of program, option or file must be a class of the tables or one of
// the words that the policies' text holds, since a rule may look at it more closely.
func Check(all any, words map[string]bool) (faults []Fault) {
	tell := func(at keys, wrong string) { faults = append(faults, Fault{at, wrong}) }
	known := known(all, words)
	entries("an object", func(name string, value any, at keys, tell reporter) {
		if is, ok := known[name]; ok {
			is(value, at, tell)
		}
	})(all, keys{}, tell)
	return faults
}

// known are the tables that the shipped policies read and people edit daily.
func known(all any, words map[string]bool) map[string]shape {
	kind, technologies := kindOf(all, words), technologiesOf(all)
	kinds := entriesOf(entriesOf(list(kind)))
	uses := fields(map[string]shape{
		"folders": entriesOf(kind), "names": entriesOf(kind), "suffixes": entriesOf(kind), "inside": entriesOf(kind),
		"patterns": entriesOf(kind),
	})
	denials := fields(map[string]shape{"in_a_row": count, "total": count})
	of := map[string]shape{
		"platforms":          entriesOf(technologies.platform()),
		"chats":              technologies.chats(all),
		"sandboxes":          technologies.to(sandbox),
		"unequipped":         entriesOf(fields(map[string]shape{"backends": list(text), "alone": list(text), "remote": list(text)})),
		"unnamed_sandbox":    sandbox,
		"bare_sandbox":       sandbox,
		"network":            fields(map[string]shape{"platforms": entriesOf(network), "ask_new_hosts": entriesOf(truth)}),
		"destinations":       destinations,
		"destination_groups": entriesOf(list(text)),
		"limits":             fields(map[string]shape{"tools": toolsTo(limits), "unasked_timeout_seconds": toolsTo(count)}),
		"callable_tools":     callable,
		"mcp_tools":          entriesOf(entriesOf(word("allow", "ask", "deny"))),
		"mcp_arguments":      entriesOf(entriesOf(entriesOf(word("reads", "writes", "url", "sql")))),
		"agent_tools":        entriesOf(agentTool),
		"approval": fields(map[string]shape{"terms": terms, "tools": toolsTo(terms), "patterns": ruleTo(truth, all, words),
			"covers_agents": ruleTo(truth, all, words)}),
		"protected": places,
		"env":       entriesOf(list(technologies.variable())),
		"env_never": fields(map[string]shape{"names": entriesOf(text), "prefixes": entriesOf(text)}),
		"classes":   entriesOf(class),
		"verdicts": entriesOf(fields(map[string]shape{
			"host": verdict, "sandbox": verdict, "networked": verdict, "shared": verdict,
		})),
		"advise":          entriesOf(text),
		"instead":         ruleTo(text, all, words),
		"programs":        entriesOf(list(kind)),
		"options":         kinds,
		"actions":         kinds,
		"installing":      entriesOf(installs),
		"harmless":        entriesOf(entriesOf(truth)),
		"launchers":       entriesOf(list(text)),
		"remote_verbs":    kinds,
		"leading_options": entriesOf(entriesOf(word("value", "flag"))),
		"secret_hosts":    entriesOf(list(text)),
		"effects":         fields(same(effectNames, kind)),
		"features":        entriesOf(kind),
		"session_history": fields(map[string]shape{"denials": denials, "user_denials": denials, "new_hosts_in_a_minute": count,
			"credentials": ruleTo(truth, all, words)}),
		"code_calls": entriesOf(list(kind)),
		"sockets":    entriesOf(kind),
		"paths": fields(map[string]shape{
			"reads": uses, "writes": uses, "vital": entriesOf(truth), "roots": entriesOf(truth), "holders": entriesOf(truth),
			"texts": entriesOf(truth),
		}),
	}
	maps.Copy(of, ofRequesters(all, words, technologies))
	maps.Copy(of, same(sets, entriesOf(truth)))
	maps.Copy(of, ofWords)
	return of
}

// ofRequesters are the tables of what some agents, jobs and people may not, of how much, and of the rules that are only observed.
func ofRequesters(all any, words map[string]bool, technologies technologies) map[string]shape {
	return map[string]shape{
		"observe": observe(all, words, time.Now()),
		"agents":  agentsTable(heldTo(all, words, technologies, nil)),
		"jobs":    entriesOf(heldTo(all, words, technologies, nil)),
		"roles":   rolesTable(all, words, technologies),
		"budgets": budgetsTable(all),
	}
}

// sets are the tables of which an entry is a name alone.
var sets = []string{"hidden_rules", "known", "maven_plugins", "shell_starters", "ignores_arguments", "plain_starters", "printers",
	"suppliers", "lookers", "disposable"}

// ofWords are the tables of words that tell what programs of any kind do.
var ofWords = map[string]shape{
	"loss_words":     entriesOf(entriesOf(truth)),
	"secret_words":   entriesOf(entriesOf(truth)),
	"loading_words":  entriesOf(truth),
	"loading_known":  entriesOf(entriesOf(truth)),
	"clearing_words": entriesOf(truth),
	"change_words":   entriesOf(truth),
	"git_shortened":  entriesOf(truth),
	"attack_words": fields(map[string]shape{
		"options": entriesOf(truth), "verbs": list(text), "looks_through": entriesOf(truth), "commands": entriesOf(truth),
	}),
}

// effectNames are what the words of a program may do.
var effectNames = []string{
	"changes", "destroys", "costs", "reveals_secrets", "grants_access", "publishes", "disables_protection", "runs", "loads", "listens",
	"sends", "removes_packages", "stops", "halts", "attacks", "changes_system", "discards_work", "changes_network",
}

// packs describe programs by their words and options.
var packs = entriesOf(pack)

var pack = fields(map[string]shape{"programs": entriesOf(fields(map[string]shape{
	"source": text, "like": text, "verbs": entriesOf(list(word(effectNames...))), "options": entriesOf(list(word(effectNames...))),
	"families": entriesOf(list(word(effectNames...))),
}))})

// CheckPacks lists what is wrong in data.bailiff.packs, decoded as for [Check].
func CheckPacks(all any) (faults []Fault) {
	packs(all, keys{}, func(at keys, wrong string) { faults = append(faults, Fault{at, wrong}) })
	return faults
}

var (
	verdict = word("allow", "allow_with_undo", "ask", "deny")
	class   = fields(map[string]shape{"rule": text, "message": text, "severity": word(Severities...), "attack": list(technique)})
	network = fields(map[string]shape{"network": word("none", "egress", "full"), "egress": list(text)})
	limits  = fields(map[string]shape{
		"timeout_seconds": count, "output_bytes": count, "cpus": amount, "memory_mb": count, "disk_mb": count, "pids": count,
		"idle_seconds": count, "max_seconds": count, "background_seconds": count, "processes": count,
		"workspace_mb": count, "workspace_files": count,
	})
	sandbox = fields(map[string]shape{
		"host": truth, "scope": word("session", "user", "request"), "read_only": truth, "persistent": truth,
		"network": network, "limits": limits,
	})
	mount = fields(map[string]shape{"source": text, "target": text, "read_only": truth, "protected": list(place)})
	terms = fields(map[string]shape{
		"scopes": list(word("once", "session", "always")), "timeout_seconds": count, "grant_seconds": count, "quorum": count,
	})
	agentTool = fields(map[string]shape{
		"tool": word(string(bailiff.Terminal), string(bailiff.ExecuteCode)), "through_bailiff": truth,
		"fields": argumentsTo(text), "ignored": list(text),
	})
)

// Severities are the words that grade a class of findings, the mildest first.
var Severities = []string{"low", "medium", "high", "critical"}

var techniqueID = regexp.MustCompile(`^T\d{4}(\.\d{3})?$`)

// IsTechnique tells ids of techniques of MITRE ATT&CK from other words.
func IsTechnique(id string) bool { return techniqueID.MatchString(id) }

func technique(value any, at keys, tell reporter) {
	if describe(value, describeText(techniqueID.String())) {
		return
	}
	if id, ok := value.(string); !ok || !IsTechnique(id) {
		tell(at, wrongType(value, "a technique of ATT&CK, as T1059 or T1059.004"))
	}
}

var (
	// argumentNames are those of terminal and of execute_code.
	argumentNames = []string{"command", "workdir", "timeout", "background", "stdin", "code", "reset"}
	toolNames     = []string{string(bailiff.Terminal), string(bailiff.ExecuteCode), string(bailiff.Process), string(bailiff.Call),
		string(bailiff.MCP)}
)
