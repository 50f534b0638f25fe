package bailiff_test

# The decision on a request of an agent that others started, with these rows for agents.
_of_agent(depth, rows, asked) := answer if {
	agent := {"id": "a", "parent": ["", "p"][min([depth - 1, 1])], "depth": depth}
	session := object.union(asked.session, {"agent": agent})
	answer := by({"agents": rows}, object.union(asked, {"session": session}))
}

_of_session(rows, asked) := answer if {
	answer := by({"agents": rows}, asked)
}

_list := request("cli", [call("ls", [], [])])

_at_depth(asked, depth) := object.union(asked, {"session": session}) if {
	session := object.filter({"agent": {"id": "a", "parent": ["", "p"][min([abs(depth - 1), 1])], "depth": depth}}, _keys_at(depth))
}

_found_by_house := {{"rule": "house.finds", "message": "It is found.", "match": "x"}}

# What becomes of one finding, by these verdicts on the host and in a sandbox.
_judged(verdict, depth, rows) := _word_of(told) if {
	told := {"deny": _rules_of(data.bailiff.deny), "ask": _rules_of(data.bailiff.require_approval)}
		with input as _at_depth(_list, depth)
		with data.bailiff.tables.agents as rows
		with data.bailiff.tables.jobs as {}
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.verdicts as {"house.finds": {"host": verdict, "sandbox": verdict}}
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.sandboxes as _usual_tables.sandboxes
		with data.bailiff.tables.network as _usual_tables.network
		with data.bailiff.tables.hidden_rules as {}
		with data.bailiff.tables.instead as {}
		with data.bailiff.tables.house as _usual_tables.house
		with data.bailiff.findings as _found_by_house
}

_word_of(told) := "deny" if {
	"house.finds" in told.deny
} else := "ask" if {
	"house.finds" in told.ask
} else := "allow"

_keys_at(0) := []

_keys_at(depth) := ["agent"] if depth > 0

_says(word) := {"verdicts": {"house.finds": word}}

_claude := request("telegram", [call("claude", ["-p"], ["x"])])

_agents_ask := {"1": {"verdicts": {"command.starts_agent": "ask"}}}

_docker_only := {"1": {"backends": ["docker"]}}

_closed := {
	"verdicts": {"command.starts_agent": "deny"},
	"network": {"network": "none"},
	"backends": [],
	"env": [],
	"scopes": ["once"],
}

test_no_row_is_for_the_agent_of_the_session if {
	every asked in [_list, _claude, wanting(_list, ["TZ"])] {
		_of_session({"1": _closed}, asked) == by({}, asked)
	}
}

test_a_row_is_for_its_depth_and_those_below if {
	every depth, outcome in {0: "allow", 1: "allow", 2: "deny", 3: "deny", 10: "deny"} {
		_judged("allow", depth, {"2": _says("deny")}) == outcome
	}
}

test_the_strictest_of_the_rows_and_of_the_verdicts_counts if {
	every said, outcome in {"allow": "ask", "ask": "ask", "deny": "deny", "denny": "deny"} {
		_judged("allow", 2, {"1": _says("ask"), "2": _says(said)}) == outcome
	}
	_judged("deny", 1, {"1": _says("allow")}) == "deny"
	_judged("ask", 1, {"1": _says("allow")}) == "ask"
}

test_a_row_of_no_depth_is_for_all_agents if {
	_judged("allow", 1, {"all": _says("deny")}) == "deny"
	_judged("allow", 0, {"all": _says("deny")}) == "allow"
}

test_an_agent_that_starts_another_is_asked_about if {
	_of_agent(1, _agents_ask, _claude).approval.reasons[0].rule == "command.starts_agent"
	every program, words in {"codex": ["exec", "x"], "hermes": ["chat", "-q", "x"], "gemini": ["-p", "x"], "goose": ["run"]} {
		asked := request("telegram", [call(program, [], words)])
		_of_agent(1, _agents_ask, asked).outcome == "ask"
		not "command.starts_agent" in {reason.rule | some reason in by({}, asked).approval.reasons}
	}
	every program, words in {"npx": ["@anthropic-ai/claude-code", "-p", "x"], "uvx": ["hermes-agent", "chat"]} {
		_of_agent(1, _agents_ask, request("telegram", [call(program, [], words)])).approval.reasons[0].rule == "command.starts_agent"
	}
}

test_a_look_at_an_agent_starts_none if {
	every program, words in {"claude": ["doctor"], "codex": ["mcp", "list"], "opencode": ["models"], "hermes": ["status"]} {
		asked := request("telegram", [call(program, [], words)])
		_of_agent(1, {"1": {"verdicts": {"command.starts_agent": "deny"}}}, asked).outcome == "allow"
	}
}

test_a_row_keeps_backends_away if {
	_of_agent(1, _docker_only, _list).backend.name == "docker"
	wish := object.union(_list, {"backend": {"requested": "local"}})
	by({}, wish).backend.name == "local"
	_of_agent(1, _docker_only, wish).outcome == "deny"
	_of_agent(1, {"1": {"backends": []}}, _list).outcome == "deny"
	_of_agent(2, {"1": {"backends": ["docker"]}, "2": {"backends": ["bubblewrap"]}}, _list).outcome == "deny"
}

test_a_row_closes_the_network_and_never_opens_it if {
	opened := {"platforms": {"cli": {"network": "egress", "egress": ["github.com", "pypi.org"]}}, "ask_new_hosts": {}}
	agent := object.union(_list, {"session": {"agent": {"id": "a", "parent": "", "depth": 1}}})
	every said, want in {"none": "none", "full": "egress"} {
		answer := by({"network": opened, "agents": {"1": {"network": {"network": said}}}}, agent)
		answer.backend.network == want
	}
	fewer := by({"network": opened, "agents": {"1": {"network": {"network": "egress", "egress": ["pypi.org", "x.test"]}}}}, agent)
	fewer.backend.egress == ["pypi.org"]
	closed := _of_agent(1, {"1": {"network": {"network": "full"}}}, _list)
	closed.backend.network == "none"
}

test_a_row_keeps_variables_away if {
	asked := wanting(_list, ["TZ", "LANG"])
	table := {"env": {name: [{"platforms": ["*"], "tools": ["terminal"]}] | some name in ["TZ", "LANG"]}}
	by(table, asked).env.forward == ["LANG", "TZ"]
	agent := object.union(asked, {"session": {"agent": {"id": "a", "parent": "", "depth": 1}}})
	answer := by(object.union(table, {"agents": {"1": {"env": ["TZ"]}}}), agent)
	answer.env.forward == ["TZ"]
	answer.env.withheld == [{"name": "LANG", "rule": "env.agent"}]
}

test_no_yes_to_an_agent_lasts_for_the_user if {
	every case in [
		{"depth": 0, "row": {}, "want": ["once", "session", "always"]},
		{"depth": 1, "row": {}, "want": ["once", "session"]},
		{"depth": 1, "row": {"scopes": ["once"]}, "want": ["once"]},
		{"depth": 0, "row": {"scopes": ["once"]}, "want": ["once", "session", "always"]},
	] {
		answer := by(
			{"agents": {"1": case.row}, "verdicts": {"house.finds": {"host": "ask", "sandbox": "ask"}}},
			_at_depth(_list, case.depth),
		) with data.bailiff.findings as _found_by_house with data.bailiff._table_terms as {{
			"scopes": ["once", "session", "always"],
			"timeout_seconds": 1, "grant_seconds": 1, "quorum": 1,
		}}
		answer.approval.scopes == case.want
	}
}

test_a_yes_covers_agents_where_each_rule_that_asks_says_so if {
	asked := {{"rule": "a.b", "message": "", "match": ""}, {"rule": "c.d", "message": "", "match": ""}}
	every covers in [{}, {"a.b": true}, {"a.b": true, "c.d": false}] {
		terms := data.bailiff._approval_of([], asked) with data.bailiff.tables.approval.covers_agents as covers
		not terms.covers_agents
	}
	terms := data.bailiff._approval_of([], asked) with data.bailiff.tables.approval.covers_agents as {"a.b": true, "c.d": true}
	terms.covers_agents == true
}

_of_job(job, rows, asked) := by({"jobs": rows}, object.union(asked, {"session": {"job": job}}))

test_a_row_is_for_the_jobs_of_its_name if {
	rows := {"cron:42": {"backends": []}, "kanban:*": {"backends": []}}
	every job, outcome in {"cron:42": "deny", "cron:421": "allow", "kanban:main:7": "deny", "kanban": "allow", "": "allow"} {
		_of_job(job, rows, _list).outcome == outcome
	}
	by({"jobs": rows}, _list).outcome == "allow"
}

test_a_row_of_a_job_is_as_strict_as_that_of_an_agent if {
	_of_job("j", {"*": {"verdicts": {"command.starts_agent": "deny"}}}, _claude).outcome == "deny"
	opened := {"platforms": {"cli": {"network": "egress", "egress": ["pypi.org"]}}, "ask_new_hosts": {}}
	job := object.union(_list, {"session": {"job": "j"}})
	by({"network": opened, "jobs": {"j": {"network": {"network": "none"}}}}, job).backend.network == "none"
	table := {"env": {"TZ": [{"platforms": ["*"], "tools": ["terminal"]}]}, "jobs": {"j": {"env": []}}}
	answer := by(table, wanting(job, ["TZ"]))
	answer.env.withheld == [{"name": "TZ", "rule": "env.job"}]
	data.bailiff._rows_offer("always") with input as job with data.bailiff.tables.jobs as {} with data.bailiff.tables.roles as {}
	not data.bailiff._rows_offer("session") with input as job with data.bailiff.tables.jobs as {"j": {"scopes": ["once"]}}
}

# The content of a program, too, is for the user no longer than the agent is there.
test_no_yes_to_an_agents_program_lasts if {
	held := {{"rule": "command.runs_unknown_program", "message": "", "match": "", "scopes": ["once", "session"]}}
	every depth, want in {0: {"session", "always"}, 1: {"session"}} {
		offered := {scope |
			some scope in ["session", "always"]
			data.bailiff._offered_by_all(held, scope)
		}
			with input as _at_depth(_list, depth)
			with data.bailiff._is_held as true
			with data.bailiff._table_terms as {{"scopes": ["once", "session"]}}
			with data.bailiff.tables.roles as {}
			with data.bailiff.tables.agents as {}
			with data.bailiff.tables.jobs as {}
		offered == want
	}
}
