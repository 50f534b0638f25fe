package bailiff

# METADATA
# title: Changing bailiff or the agent
# description: |
#   Commands and variables of bailiff and of the agent change what they ask about.
_examined.bailiff contains _found("own_settings", _spelt(call)) if {
	some call in _calls_of.bailiff
	not _looking(call)
}

_looking(call) if data.bailiff.tables.bailiff_looks[call.operands[0]]

_looking(call) if data.bailiff.tables.bailiff_looks[concat(" ", array.slice(call.operands, 0, 2))]

# Variables of the agent and of bailiff change what they ask about.
_found_in_text contains _found("own_settings", "") if {
	some name in _command.assigns
	regex.match(`^(HERMES|BAILIFF)_`, name)
}

# METADATA
# title: Sockets and the kernel
# description: |
#   Sockets of engines, and bailiff's own, give full access even to a harmless client.
#   Settings of the kernel are found by their assignment.
_examined.sends contains _found(class, _spelt(call)) if {
	some call in _calls_of.sends
	some word in call.argv
	parts := split(word, "/")
	class := data.bailiff.tables.sockets[parts[count(parts) - 1]]
}

_examined.tunes contains _found("kernel", operand) if {
	some call in _calls_of.tunes
	some operand in call.operands
	contains(operand, "=")
}

# The same program, built from its source.
_examined.go_runs contains _found("own_settings", _spelt(call)) if {
	some call in _calls_of.go_runs
	call.operands[0] == "run"
	regex.match(`(^|/)bailiff(@.*)?$`, call.operands[1])
	not data.bailiff.tables.bailiff_looks[call.operands[2]]
	not data.bailiff.tables.bailiff_looks[concat(" ", array.slice(call.operands, 2, 4))]
}

# Settings of a package manager that name programs.
_examined.apts contains _found("inline", _spelt(call)) if {
	some call in _calls_of.apts
	some word in call.argv
	regex.match(
		`(?i)^(-o|--option=)?\s*(dir::bin|dpkg::|apt::.*(pre|post)-|apt::.*hooks|acquire::.*(proxy|program|command)|dir::etc)`,
		word,
	)
}
