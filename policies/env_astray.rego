package bailiff

# METADATA
# title: Texts in which no variable is safe
# description: |
#   A variable enters only if nothing in the text plants what the program would start,
#   reads the environment of processes, or says that the program is to start another
#   one.
_only_its_own if {
	not _astray
	not _found_astray
}

_found_astray if {
	some finding in findings
	not data.bailiff.tables.env_tolerated[finding.rule]
}

_astray if contains(_command.text, "${!")

_astray if {
	some name in _command.assigns
	_never_forwarded(name)
	not data.bailiff.tables.env_plain_assignments[name]
}

_astray if {
	some name in _command.assigns
	_leading_program(name)
}

_astray if {
	some path in _command.reads
	startswith(path, "/proc")
}

_astray if {
	some call in _calls
	some word in call.argv
	contains(word, "/proc/")
}

_astray if count(_dumps) > 0

# "env" and "set" that are given nothing to run or to set show every variable.
_astray if {
	some call in _calls_by.env
	every operand in call.operands {
		contains(operand, "=")
	}
}

_astray if {
	some call in _calls_by.set
	count(call.argv) == 1
}
