package bailiff

# METADATA
# title: Programs that get a variable
# description: |
#   Every call must be of a program that the entry names, spelt plainly, and start no
#   other program.
_fits_programs(entry, name) if {
	input.tool != "execute_code"
	_calls_its_programs(entry, name)
	_only_its_own
}

# A program of execute_code is one of Python's.
_fits_programs(entry, _) if {
	input.tool == "execute_code"
	_calls_from_python(entry)
}

_calls_its_programs(entry, name) if {
	_plain
	not name in _command.variables
	some program in _command.programs
	program in entry.programs
	every call in _calls {
		_accepted(call, entry)
	}
}

_calls_from_python(entry) if {
	"python3" in entry.programs
	_understood_code
	every call in _calls {
		_accepted(call, entry)
	}
}

# A function may have taken the name of a program.
_plain if {
	_understood
	not _features.function
}

# A program given by a path could be any file of that name.
_accepted(call, entry) if {
	call.program in entry.programs
	_trusted_spelling(call)
	not _risky_assignment(call)
	_its_subcommand(call)
	not _starts_others(call)
}

_accepted(call, _) if data.bailiff.tables.env_neutral[call.program]

_trusted_spelling(call) if call.argv[0] == call.program

_trusted_spelling(call) if data.bailiff.tables.trusted_folders[trim_suffix(call.argv[0], concat("", ["/", call.program]))]
