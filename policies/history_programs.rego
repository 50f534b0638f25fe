package bailiff

# METADATA
# title: Settings of git that start programs
# description: |
#   Some settings make git start a program later on that the text does not show.
_examined.versions contains _found("startup", _spelt(call)) if {
	some call in _calls_of.versions
	call.operands[0] == "config"
	count(call.operands) > 2
	key := lower(call.operands[1])
	_plants(key)
}

_plants(key) if data.bailiff.tables.git_keys[key]

_plants(key) if data.bailiff.tables.git_keys[concat("", [split(key, ".")[0], ".*"])]

# Whatever it is called, a setting with such a name holds a program or an address.
_plants(key) if {
	parts := split(key, ".")
	data.bailiff.tables.git_program_keys[parts[count(parts) - 1]]
}

_examined.versions contains _found("startup", _spelt(call)) if {
	some call in _calls_of.versions
	some position, "-c" in call.argv
	setting := call.argv[position + 1]
	regex.match(`(?i)^(core\.hookspath|include\.path|includeif\.|init\.templatedir)`, setting)
}

# METADATA
# title: Programs that git starts at once
# description: |
#   Options, addresses and settings of one call may name a program.
_examined.versions contains _found("inline", _spelt(call)) if {
	some call in _calls_of.versions
	some flag in call.flags
	data.bailiff.tables.git_options[call.operands[0]][flag]
}

_examined.versions contains _found("inline", _spelt(call)) if {
	some call in _calls_of.versions
	some word in call.argv
	regex.match(`^(--remote=)?ext::`, word)
}

# Settings for one call whose program the text does not show otherwise.
_examined.versions contains _found("inline", _spelt(call)) if {
	some call in _calls_of.versions
	some position, "-c" in call.argv
	setting := call.argv[position + 1]
	parts := split(lower(split(setting, "=")[0]), ".")
	data.bailiff.tables.git_program_keys[parts[count(parts) - 1]]
}

_examined.versions contains _found("inline", _spelt(call)) if {
	some call in _calls_of.versions
	some word in call.argv
	regex.match(`^--(config-env|exec-path=)`, word)
}
