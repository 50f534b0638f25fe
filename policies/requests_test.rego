# Requests that the tests put to the policies.

package bailiff_test

import data.bailiff.decision

# A terminal request of a platform whose text calls what calls says.
request(platform, calls) := {
	"tool": "terminal",
	"args": {"command": "…", "workdir": "", "timeout": 0, "background": false, "stdin": ""},
	"caller": {"name": "test"},
	"files": [],
	"session": {"id": "s", "platform": platform, "unattended": false},
	"command": _text(calls),
	"env": {"requested": [], "available": []},
	"backend": {"requested": "", "available": _configured},
	"time": "2026-11-21T12:00:00Z",
	"date": "2026-11-21",
}

_text(calls) := {
	"text": "…",
	"parsed": true,
	"complete": true,
	"programs": sort({call.program | some call in calls}),
	"calls": calls,
	"hosts": [],
	"reads": sort({path | some call in calls; some path in call.reads}),
	"writes": sort({path | some call in calls; some path in call.writes}),
	"variables": [],
	"features": [],
	"assigns": sort({name | some call in calls; some name in call.assigns}),
	"settings": [],
	"loses": [],
}

call(program, flags, operands) := {
	"program": program,
	"argv": array.concat([program], array.concat(flags, operands)),
	"flags": flags,
	"operands": operands,
	"wrappers": [],
	"assigns": [],
	"reads": [],
	"writes": [],
	"pipes_to": "",
}

reading(program, path) := object.union(call(program, [], [path]), {"reads": [path]})

writing(program, flags, path) := object.union(call(program, flags, [path]), {"writes": [path]})

# The same of the command line, with more facts of its text.
_text_with(calls, facts) := object.union(request("cli", calls), {"command": facts})

# Findings as their rules, as these with the matches, and as the matches alone.
_told_of(findings) := {
	"rules": {finding.rule | some finding in findings},
	"told": {sprintf("%s: %s", [finding.rule, finding.match]) | some finding in findings},
	"matches": {finding.match | some finding in findings},
}

# What all shipped rules find in a text of these calls, without the findings of other files.
_all_found(calls) := _all_found_with(calls, {})

_all_found_with(calls, facts) := _told_of(found | examined) if {
	asked := _text_with(calls, facts)
	found := data.bailiff._found_in_text | data.bailiff._found_in_session with input as asked
	examined := {finding | some aspect in data.bailiff._aspects; some finding in data.bailiff._examined[aspect]} with input as asked
		with data.bailiff.tables.env as _usual_tables.env
		with data.bailiff.tables.network as _usual_tables.network
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.house as _usual_tables.house
}

# An execute_code request whose program has the given facts.
program(platform, facts) := object.union(
	object.remove(request(platform, []), {"command"}),
	{
		"tool": "execute_code",
		"args": {"code": "…", "timeout": 0, "reset": false},
		"code": object.union(
			{
				"language": "python", "parsed": true, "complete": true, "imports": [], "calls": [], "strings": [],
				"variables": [], "hosts": [], "reads": [], "writes": [], "settings": [], "loses": [], "features": [],
			},
			facts,
		),
	},
)

_configured := {
	"docker": {"isolated": true, "ready": true},
	"bubblewrap": {"isolated": true, "ready": true},
	"local": {"isolated": false, "ready": true},
}

with_backends(asked, names) := object.union(
	object.remove(asked, {"backend"}),
	{"backend": {
		"requested": asked.backend.requested,
		"available": {name: state | some name, state in _configured; name in names},
	}},
)

wishing(asked, name) := object.union(asked, {"backend": {"requested": name}})

# The same on the host, where nothing isolates.
on_host(asked) := with_backends(asked, {"local"})

wanting(asked, names) := object.union(asked, {"env": {"requested": names, "available": names}})

unattended(asked) := object.union(asked, {"session": {"unattended": true}})

# The rules that a decision gives as its reasons.
rules(decision) := {denial.rule | some denial in decision.denials} | {reason.rule |
	some reason in decision.approval.reasons
}

# What the policies say by the usual tables: whatever those say that are edited daily,
# the tests are about the rules.
usually(asked) := by({}, asked)

# The same by tables that say more. A test that is about a part of the decision asks one of the parts below.
by(more, asked) := answer if {
	answer := decision with input as asked
		with data.bailiff.tables.platforms as _table(more, "platforms")
		with data.bailiff.tables.chats as _table(more, "chats")
		with data.bailiff.tables.sandboxes as _table(more, "sandboxes")
		with data.bailiff.tables.unnamed_sandbox as _table(more, "unnamed_sandbox")
		with data.bailiff.tables.bare_sandbox as _table(more, "bare_sandbox")
		with data.bailiff.tables.network as _table(more, "network")
		with data.bailiff.tables.limits as _table(more, "limits")
		with data.bailiff.tables.callable_tools as _table(more, "callable_tools")
		with data.bailiff.tables.budgets as _table(more, "budgets")
		with data.bailiff.tables.mcp_tools as _table(more, "mcp_tools")
		with data.bailiff.tables.mcp_arguments as _table(more, "mcp_arguments")
		with data.bailiff.tables.approval as _table(more, "approval")
		with data.bailiff.tables.env as _table(more, "env")
		with data.bailiff.tables.classes as _table(more, "classes")
		with data.bailiff.tables.verdicts as _table(more, "verdicts")
		with data.bailiff.tables.hidden_rules as _table(more, "hidden_rules")
		with data.bailiff.tables.instead as _table(more, "instead")
		with data.bailiff.tables.observe as _table(more, "observe")
		with data.bailiff.tables.agents as _table(more, "agents")
		with data.bailiff.tables.jobs as _table(more, "jobs")
		with data.bailiff.tables.roles as _table(more, "roles")
		with data.bailiff.tables.house as _table(more, "house")
}

_table(more, name) := object.union(_usual_tables[name], more[name]) if {
	more[name]
} else := _usual_tables[name]

# Where a request runs and how much it may use.
_settled(asked) := _settled_by({}, asked)

_settled_by(more, asked) := settled if {
	settled := {"backend": data.bailiff._backend, "limits": data.bailiff._execution_limits} with input as asked
		with data.bailiff.tables.platforms as _table(more, "platforms")
		with data.bailiff.tables.chats as _table(more, "chats")
		with data.bailiff.tables.sandboxes as _table(more, "sandboxes")
		with data.bailiff.tables.unnamed_sandbox as _table(more, "unnamed_sandbox")
		with data.bailiff.tables.bare_sandbox as _table(more, "bare_sandbox")
		with data.bailiff.tables.network as _table(more, "network")
		with data.bailiff.tables.limits as _table(more, "limits")
		with data.bailiff.tables.agents as _table(more, "agents")
		with data.bailiff.tables.jobs as _table(more, "jobs")
		with data.bailiff.tables.roles as _table(more, "roles")
		with data.bailiff.tables.house as _table(more, "house")
}

# Why a request is denied by what it is, before its text counts.
_faults_of(asked) := _faults_by({}, asked)

_faults_by(more, asked) := faults if {
	faults := data.bailiff._in_order(data.bailiff._faults) with input as asked
		with data.bailiff.tables.platforms as _table(more, "platforms")
		with data.bailiff.tables.chats as _table(more, "chats")
		with data.bailiff.tables.sandboxes as _table(more, "sandboxes")
		with data.bailiff.tables.unnamed_sandbox as _table(more, "unnamed_sandbox")
		with data.bailiff.tables.bare_sandbox as _table(more, "bare_sandbox")
		with data.bailiff.tables.network as _table(more, "network")
		with data.bailiff.tables.limits as _table(more, "limits")
		with data.bailiff.tables.env as _table(more, "env")
		with data.bailiff.tables.hidden_rules as _table(more, "hidden_rules")
		with data.bailiff.tables.instead as _table(more, "instead")
		with data.bailiff.tables.agents as _table(more, "agents")
		with data.bailiff.tables.jobs as _table(more, "jobs")
		with data.bailiff.tables.roles as _table(more, "roles")
		with data.bailiff.tables.house as _table(more, "house")
}

# What is asked about.
_questions(asked) := _questions_by({}, asked)

_questions_by(more, asked) := questions if {
	questions := data.bailiff._in_order(data.bailiff.require_approval) with input as asked
		with data.bailiff.tables.platforms as _table(more, "platforms")
		with data.bailiff.tables.chats as _table(more, "chats")
		with data.bailiff.tables.sandboxes as _table(more, "sandboxes")
		with data.bailiff.tables.unnamed_sandbox as _table(more, "unnamed_sandbox")
		with data.bailiff.tables.bare_sandbox as _table(more, "bare_sandbox")
		with data.bailiff.tables.network as _table(more, "network")
		with data.bailiff.tables.callable_tools as _table(more, "callable_tools")
		with data.bailiff.tables.mcp_tools as _table(more, "mcp_tools")
		with data.bailiff.tables.env as _table(more, "env")
		with data.bailiff.tables.mcp_arguments as _table(more, "mcp_arguments")
		with data.bailiff.tables.classes as _table(more, "classes")
		with data.bailiff.tables.verdicts as _table(more, "verdicts")
		with data.bailiff.tables.hidden_rules as _table(more, "hidden_rules")
		with data.bailiff.tables.instead as _table(more, "instead")
		with data.bailiff.tables.agents as _table(more, "agents")
		with data.bailiff.tables.jobs as _table(more, "jobs")
		with data.bailiff.tables.roles as _table(more, "roles")
		with data.bailiff.tables.house as _table(more, "house")
}

# The rules of reasons.
_rules_of(reasons) := {reason.rule | some reason in reasons}

_messaging := {"telegram", "discord", "slack", "whatsapp", "signal", "matrix"}

_usual_tables := {
	"platforms": object.union(
		{name: _usual_platform | some name in _messaging},
		{"cli": {"isolation": "optional", "backends": ["docker", "bubblewrap", "local"]}},
	),
	"chats": {},
	"agents": {},
	"jobs": {},
	"roles": {},
	"sandboxes": {
		"docker": _usual_sandbox,
		"bubblewrap": _usual_sandbox,
		"local": {"host": true, "scope": "session", "read_only": false, "network": {"network": "full"}, "limits": {"processes": 16}},
	},
	"unnamed_sandbox": _usual_sandbox,
	"bare_sandbox": {"scope": "session", "read_only": false, "network": {"network": "full"}, "limits": {"idle_seconds": 3600}},
	"network": {"platforms": {}},
	"limits": {
		"tools": {tool: {"timeout_seconds": 600, "output_bytes": 50000} |
			some tool in ["terminal", "execute_code", "process", "call", "mcp"]
		},
		"unasked_timeout_seconds": {"terminal": 180, "execute_code": 300, "process": 60, "call": 60, "mcp": 60},
	},
	"callable_tools": {"terminal": "allow"},
	"mcp_tools": {},
	"mcp_arguments": {},
	"approval": {
		"terms": {"scopes": ["once", "session"], "timeout_seconds": 300, "grant_seconds": 3600, "quorum": 1},
		"tools": {"execute_code": {"scopes": ["once"]}},
	},
	"env": {
		"GITHUB_TOKEN": [{"platforms": ["telegram", "cli"], "programs": ["git", "gh"]}],
		"GITLAB_TOKEN": [{"platforms": ["cli"], "programs": ["git", "glab"]}],
		"NPM_TOKEN": [{"platforms": ["cli"], "programs": ["npm"], "sealed": true}],
	},
	"classes": {name: object.remove(class, ["severity", "attack"]) | some name, class in data.bailiff.tables.classes},
	"verdicts": {"command.destroys_system": {"host": "deny", "sandbox": "deny"}},
	"hidden_rules": {},
	"instead": {},
	"observe": {},
	"budgets": {},
	"house": {},
}

_usual_platform := {"isolation": "required", "backends": ["docker", "bubblewrap"]}

_usual_sandbox := {
	"scope": "session", "read_only": true,
	"limits": {"idle_seconds": 3600, "max_seconds": 86400, "cpus": 1, "memory_mb": 5120, "pids": 256, "processes": 16},
}

# What stands behind a decision by the usual tables.
_behind(asked) := seen if {
	names := object.keys(_configured) | {"podman"}
	seen := {
		"candidates": data.bailiff.backend_candidates,
		"eligible": data.bailiff._eligible,
		"isolate": {name | some name in names; data.bailiff._isolates(name)},
		"enough": {name | some name in names; data.bailiff._isolated_enough(name)},
		"chosen": data.bailiff._chosen,
		"places": data.bailiff._places,
	}
		with input as asked
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.chats as _usual_tables.chats
		with data.bailiff.tables.sandboxes as _usual_tables.sandboxes
		with data.bailiff.tables.house as _usual_tables.house
}
