package bailiff_test

_mount := {"source": "/home/u/project", "target": "/home/u/project", "read_only": false}

# A request in a sandbox that may write the user's project, where what it changes can be undone or not.
_of_project(asked, undo) := object.union(asked, {"backend": {"requested": "", "available": available}}) if {
	available := {"docker": object.union({"isolated": true, "ready": true}, undo)}
}

# What is asked about, and whether there is something to undo.
_in_project(asked, undo) := told if {
	told := {"questions": _rules_of(data.bailiff._questions), "to_undo": data.bailiff._to_undo != set()}
		with input as _of_project(asked, undo)
		with data.bailiff.tables.platforms as _table(_project_tables, "platforms")
		with data.bailiff.tables.verdicts as _table(_project_tables, "verdicts")
		with data.bailiff.tables.env as _usual_tables.env
		with data.bailiff.tables.sandboxes as _usual_tables.sandboxes
		with data.bailiff.tables.network as _usual_tables.network
		with data.bailiff.tables.classes as _usual_tables.classes
		with data.bailiff.tables.house as _usual_tables.house
		with data.bailiff.tables.hidden_rules as {}
		with data.bailiff.tables.instead as {}
		with data.bailiff.tables.undo as _undo_table
}

_project_tables := {
	"platforms": {"cli": {"isolation": "optional", "backends": ["docker"], "mounts": {"docker": [_mount]}}},
	"verdicts": {
		"command.deletes_recursively": {"networked": "allow", "shared": "allow_with_undo"},
		"command.rewrites_history": {"networked": "allow", "shared": "allow_with_undo"},
		"command.writes_startup": {"networked": "allow", "shared": "ask"},
	},
}

_undo_table := {
	"wrappers": {"bash": true},
	"git": {
		"checkout": {"-q": true},
		"clean": {"-f": true, "-d": true},
		"reset": {"--hard": true},
		"restore": {"-W": true},
		"rm": {"-r": true, "-f": true},
	},
}

_with_undo(asked) := _in_project(asked, {"undo": true})

_git_of(flags, operands) := request("cli", [object.union(
	call("git", flags, operands),
	{"argv": array.concat(["git", operands[0]], array.concat(flags, array.slice(operands, 1, count(operands))))},
)])

_deletion := request("cli", [writing("rm", ["-r", "-f"], "/home/u/project/src")])

_asks_anew(told) if {
	told.to_undo
	told.questions != set()
}

_undoes(told) if {
	told.to_undo
	told.questions == set()
}

test_what_can_be_undone_is_allowed_with_a_snapshot if {
	_undoes(_with_undo(_deletion))
	every asked in [
		_git_of(["--hard"], ["reset"]), _git_of(["--hard"], ["reset", "HEAD"]), _git_of([], ["checkout", "."]),
		_git_of([], ["restore", "."]), _git_of(["-f", "-d"], ["clean"]), _git_of(["-r", "-f"], ["rm", "docs"]),
	] {
		_undoes(_with_undo(asked))
	}
}

test_the_decision_orders_the_snapshot if {
	answer := by(_project_tables, _of_project(_deletion, {"undo": true})) with data.bailiff.tables.undo as _undo_table
	answer.outcome == "allow"
	answer.snapshot == true
	not by(_project_tables, _of_project(_deletion, {})).snapshot
}

test_where_nothing_can_be_undone_it_is_asked_about if {
	_asks_anew(_in_project(_deletion, {}))
	_asks_anew(_in_project(_deletion, {"undo": false}))
	_asks_anew(_in_project(_deletion, {"undo": "yes"}))
}

test_what_git_keeps_itself_is_asked_about if {
	every asked in [
		_git_of(["--hard"], ["reset", "HEAD~3"]), _git_of(["-D"], ["branch", "topic"]), _git_of(["--force"], ["push"]),
		_git_of([], ["stash", "drop"]), _git_of([], ["rebase", "main"]), _git_of(["-f", "-d", "-x"], ["clean"]),
		_git_of(["-f", "-f", "-d"], ["clean"]), _git_of(["-f"], ["checkout", "main"]),
	] {
		_asks_anew(_with_undo(asked))
	}
}

test_nothing_elsewhere_is_undone if {
	there := object.union(writing("rm", ["-r", "-f"], "/data"), {"wrappers": ["ssh"]})
	_asks_anew(_with_undo(request("cli", [there])))
	_asks_anew(_with_undo(request("cli", [call("rsync", ["-a", "--delete"], ["src/", "user@host:/data"])])))
}

test_what_goes_on_is_not_undone if {
	_asks_anew(_with_undo(object.union(_deletion, {"args": {"background": true}})))
	_asks_anew(_with_undo(object.union(_deletion, {"command": {"features": ["background"]}})))
}

test_with_another_question_all_is_asked if {
	told := _with_undo(request("cli", [
		writing("rm", ["-r", "-f"], "/home/u/project/src"),
		writing("tee", [], "/home/u/project/.envrc"),
	]))
	told.questions == {"command.deletes_recursively", "command.writes_startup"}
}

test_nobody_need_attend_what_can_be_undone if {
	_undoes(_with_undo(unattended(_deletion)))
	_asks_anew(_in_project(unattended(_deletion), {}))
}

test_a_word_for_undo_is_between_allow_and_ask if {
	row := {"a.b": {"sandbox": "allow", "networked": "ask", "shared": "allow_with_undo"}}
	_verdict_among({"sandbox", "shared"}, row, {"rule": "a.b"}) == "allow_with_undo"
	_verdict_among({"sandbox", "networked", "shared"}, row, {"rule": "a.b"}) == "ask"
}

test_ordinary_work_takes_no_snapshot if {
	_with_undo(request("cli", [call("ls", [], [])])) == {"questions": set(), "to_undo": false}
}
