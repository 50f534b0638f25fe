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

# What is found in a terminal request whose text has the given facts besides its calls.
_found_with(calls, facts) := {finding.rule | some finding in findings} if {
	asked := object.union(request("cli", calls), {"command": facts})
	findings := data.bailiff.findings with input as on_host(asked)
		with data.bailiff.tables.network as _usual_tables.network
		with data.bailiff.tables.platforms as _usual_tables.platforms
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

# The same by tables that say more.
by(more, asked) := answer if {
	tables := object.union(_usual_tables, more)
	answer := decision with input as asked
		with data.bailiff.tables.platforms as tables.platforms
		with data.bailiff.tables.chats as tables.chats
		with data.bailiff.tables.sandboxes as tables.sandboxes
		with data.bailiff.tables.unnamed_sandbox as tables.unnamed_sandbox
		with data.bailiff.tables.bare_sandbox as tables.bare_sandbox
		with data.bailiff.tables.network as tables.network
		with data.bailiff.tables.limits as tables.limits
		with data.bailiff.tables.callable_tools as tables.callable_tools
		with data.bailiff.tables.approval as tables.approval
		with data.bailiff.tables.env as tables.env
		with data.bailiff.tables.classes as tables.classes
		with data.bailiff.tables.verdicts as tables.verdicts
		with data.bailiff.tables.hidden_rules as tables.hidden_rules
		with data.bailiff.tables.instead as tables.instead
		with data.bailiff.tables.house as tables.house
}

_usual_tables := {
	"platforms": object.union(
		{name: _usual_platform | some name in _messaging},
		{"cli": {"isolation": "optional", "backends": ["docker", "bubblewrap", "local"]}},
	),
	"chats": {},
	"sandboxes": {
		"docker": _usual_sandbox,
		"bubblewrap": _usual_sandbox,
		"local": {"host": true, "scope": "session", "read_only": false, "network": {"network": "full"}, "limits": {"processes": 16}},
	},
	"unnamed_sandbox": _usual_sandbox,
	"bare_sandbox": {"scope": "session", "read_only": false, "network": {"network": "full"}, "limits": {"idle_seconds": 3600}},
	"network": {"platforms": {}},
	"limits": {
		"tools": {tool: {"timeout_seconds": 600, "output_bytes": 50000} | some tool in ["terminal", "execute_code", "process", "call"]},
		"unasked_timeout_seconds": {"terminal": 180, "execute_code": 300, "process": 60, "call": 60},
	},
	"callable_tools": {"terminal": "allow"},
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
		"questions": {reason.rule | some reason in data.bailiff.require_approval},
	}
		with input as asked
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.chats as _usual_tables.chats
		with data.bailiff.tables.sandboxes as _usual_tables.sandboxes
		with data.bailiff.tables.verdicts as _usual_tables.verdicts
}

# The rules that find something in a text of these calls that names a host.
_going(calls, host) := {finding.rule | some finding in findings} if {
	asked := object.union(request("cli", calls), {"command": {"hosts": [host]}})
	findings := data.bailiff.findings with input as asked
		with data.bailiff.tables.network as _usual_tables.network
}

# Each finding of a text of these calls on the host, as its rule and its match.
_told(calls) := _told_with(calls, {})

# The same with more facts of the text.
_told_with(calls, facts) := {sprintf("%s: %s", [finding.rule, finding.match]) | some finding in findings} if {
	asked := object.union(request("cli", calls), {"command": facts})
	findings := data.bailiff.findings with input as on_host(asked)
		with data.bailiff.tables.network as _usual_tables.network
		with data.bailiff.tables.platforms as _usual_tables.platforms
}

# Each finding of a program with these facts.
_said_in(facts) := {sprintf("%s: %s", [finding.rule, finding.match]) | some finding in findings} if {
	findings := data.bailiff.findings with input as on_host(program("cli", facts))
		with data.bailiff.tables.network as _usual_tables.network
}
