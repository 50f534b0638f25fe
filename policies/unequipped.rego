package bailiff

# METADATA
# title: Programs without what they need
# description: |
#   Denies a program that needs what the sandbox does not show, since it could only fail, and says
#   what to do instead. A call that asks for help, or reaches another machine, runs.
deny contains {
	"rule": "command.lacks_engine",
	"message": sprintf("A sandbox shows no container engine, which %s needs.", [call.program]),
	"match": _spelt(call),
} if {
	some program, row in _unequipped
	some call in _calls
	call.program == program
	not _works_alone(call, row)
}

# The programs called that lack something on the backend.
_unequipped := {program: row |
	_isolates(_chosen)
	some program, row in object.filter(data.bailiff.tables.unequipped, _command.programs)
	_chosen in row.backends
}

_works_alone(call, _) if count(call.operands) == 0

_works_alone(call, _) if _asks_for_help(call)

_works_alone(call, row) if {
	some flag in call.flags
	regex.replace(flag, `=.*$`, "") in row.remote
}

_works_alone(call, row) if {
	some length in [1, 2]
	concat(" ", array.slice(call.operands, 0, length)) in row.alone
}
