package bailiff

# METADATA
# title: Settings of git that start programs
# description: |
#   Some settings make git start a program later on that the text does not show.
_plants(key) if data.bailiff.tables.git_keys[key]

_plants(key) if data.bailiff.tables.git_keys[concat("", [split(key, ".")[0], ".*"])]

# Whatever it is called, a setting with such a name holds a program or an address.
_plants(key) if {
	parts := split(key, ".")
	data.bailiff.tables.git_program_keys[parts[count(parts) - 1]]
}

# An alias of a verb that only looks, whatever options follow: of other verbs a call by the alias would hide what it does.
_shortens(call) if {
	startswith(_git_set(call), "alias.")
	count({flag | some flag in call.flags} - {"--local"}) == 0
	value := call.argv[count(call.argv) - 1]
	regex.match(`^[a-z-]+( --?[A-Za-z][A-Za-z0-9-]*)*$`, value)
	data.bailiff.tables.git_shortened[split(value, " ")[0]]
}

# The name of the setting that "config NAME VALUE" or "config set NAME VALUE" changes.
_git_set(call) := lower(named[0]) if {
	call.operands[0] == "config"
	not _only_asks(call)
	named := [operand | some position, operand in call.operands; position > 0; contains(operand, ".")]
	call.argv[count(call.argv) - 1] != named[0]
}

_only_asks(call) if {
	some flag in call.flags
	regex.match(`^--(get|unset|list|remove-section|rename-section)`, flag)
}

_only_asks(call) if call.operands[1] in {"get", "unset", "list", "remove-section", "rename-section", "edit"}

# Settings for one call, and those of a new clone.
_git_given(call) := set() if {
	not strings.any_prefix_match(call.argv, ["-c", "--config"])
} else := {setting |
	some position, option in call.argv
	option in {"-c", "--config"}
	setting := call.argv[position + 1]
} | {trim_prefix(word, "--config=") |
	some word in call.argv
	startswith(word, "--config=")
}

# METADATA
# title: Programs that git starts at once
# description: |
#   Options, addresses and settings of one call may name a program. So do verbs that
#   serve, send or start something, or do so with one of these options.
_starts_program(setting) if {
	_starts_value(lower(split(setting, "=")[0]))
	not regex.match(`=$|=[\w.-]+( --?[A-Za-z-]+)*$`, setting)
}

_starts_program(setting) if {
	parts := split(lower(split(setting, "=")[0]), ".")
	data.bailiff.tables.git_program_keys[parts[count(parts) - 1]]
}

_starts_value(key) if {
	data.bailiff.tables.git_keys[key]
	not regex.match(`^(url\.|init\.|include|core\.hookspath$)`, key)
}

_starts_value(key) if {
	data.bailiff.tables.git_keys[concat("", [split(key, ".")[0], ".*"])]
	not regex.match(`^(url\.|include)`, key)
}
