package bailiff

# METADATA
# title: The environment
# description: |
#   The whole environment, or a secret of it by name, must not leave the machine.
#   Neither must the environments of other processes, which a listing shows.
_examined.lists_processes contains _found("credentials", _spelt(call)) if {
	some call in _calls_of.lists_processes
	some operand in call.operands
	regex.match(`^[a-zA-Z]*e[a-zA-Z]*$`, operand)
}

# Secrets of the environment, for all to read: those that are looked for in it, or printed by their names.
_examined.environment contains _found("credentials", _spelt(call)) if {
	some dump in _dumps
	some call in _calls
	call.program == dump.pipes_to
	call.program in {"grep", "egrep", "fgrep", "rg", "awk", "sed", "ag", "ack"}
	some word in array.slice(call.argv, 1, count(call.argv))
	_secretish(word)
}

_examined.environment contains _found("credentials", _spelt(call)) if {
	some call in _dumps
	call.program == "printenv"
	some name in call.operands
	_secretish(name)
}

_secretish(word) if regex.match(`(?i)(token|secret|passw|credential|api_?key|private_?key|access_?key)`, word)

# The environment, all of it or a secret by name.
_examined.sends contains _found("sends_environment", "") if {
	count(_dumps) > 0
}

_dumpers_called contains program if {
	some program in _command.programs
	program in {"printenv", "env", "set", "export", "declare", "typeset"}
}

_dumps contains call if {
	_dumpers_called != set()
	some call in _calls
	call.program in _dumpers_called
	_dumps_environment(call)
}

_dumps_environment(call) if call.program == "printenv"

_dumps_environment(call) if {
	call.program in {"env", "set", "export"}
	count(call.operands) == 0
	not "-i" in call.flags
}

_dumps_environment(call) if {
	call.program in {"export", "declare", "typeset"}
	count({flag | some flag in call.flags} & {"-p", "-x"}) > 0
	count(call.operands) == 0
}

_examined.sends contains _found("sends_environment", "") if {
	count(_command.variables) > 0
	some call in _calls_of.sends
	some position, word in call.argv
	some name in _command.variables
	contains(word, concat("", ["$", name]))
	regex.match(`(?i)(key|token|secret|passw|credential)`, name)
	not regex.match(`^(-[fgikLsSvN]*[Hu]|--header|--user|--oauth2-bearer)$`, call.argv[position - 1])
	not startswith(word, "-H")
	not startswith(word, "--header=")
}
