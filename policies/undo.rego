package bailiff

# METADATA
# title: What can be undone
# description: |
#   A finding with the verdict allow_with_undo is allowed, with the order to take a snapshot
#   before, where the sidecar says that it can take one, nothing else asks, and all that the
#   request deletes or discards is files of the folders that a snapshot keeps. Else it is
#   asked about, or only observed, and runs without a snapshot that nothing can take.
_to_undo contains finding if {
	some finding in findings
	_verdict_on(finding) == "allow_with_undo"
}

default _snapshot := {}

_snapshot := {"snapshot": true} if {
	_outcome == "allow"
	_to_undo != set()
	_undoable
}

default _undoable := false

_undoable if {
	require_approval - _observed_questions == set()
	input.tool == "terminal"
	input.args.background == false
	input.backend.available[_chosen].undo == true
	not "background" in _features
	count(_beyond_snapshot) == 0
}

# What deletes in another place than the sandbox.
_beyond_snapshot contains call if {
	some kind in ["deletes", "deletes_folders", "searches", "versions"]
	some call in _calls_of[kind]
	some wrapper in call.wrappers
	not data.bailiff.tables.undo.wrappers[wrapper]
}

# A deletion beside a place of another machine, such as user@host:/data, may be one there.
_beyond_snapshot contains call if {
	some call in _calls
	some operand in call.operands
	regex.match(`^[^/\s]+:\S*$`, operand)
}

# What git keeps of commits and branches is in no snapshot.
_beyond_snapshot contains call if {
	some call in _calls_of.versions
	"history" in _done_to_versions(call)
	not _discards_files_alone(call)
}

_discards_files_alone(call) if {
	options := data.bailiff.tables.undo.git[call.operands[0]]
	call.argv[1] == call.operands[0]
	every flag in call.flags {
		options[flag]
	}
	_stays_on_commit(call.operands[0], array.slice(call.operands, 1, count(call.operands)))
	count([flag | some flag in call.flags; flag in {"-f", "--force"}]) < 2
}

_stays_on_commit(verb, _) if verb != "reset"

_stays_on_commit("reset", []) := true

_stays_on_commit("reset", ["HEAD"]) := true
