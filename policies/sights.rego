package bailiff

# METADATA
# title: First sight of a program
# description: |
#   No entry, no index, no folder of installed programs and no project knows the program. A team that says anything of its name in
#   a table or an entry of its own knows that, too. On a host that was looked at a grant is for the content of the program's file.
_examined.sights contains _found("unknown_program", _held(word)) if {
	some word in _command.unknown
	_is_first_sight(word)
}

# The name of a file tells nothing of the program in it.
_is_first_sight(word) if contains(word, "/")

_is_first_sight(word) if _is_unknown(word)

# What has no content that may be granted is granted once.
_held(word) := word if {
	not _command.held
} else := word if {
	_command.held[word]
} else := ""

# Whether people may grant a reason until the content of the program changes, for 30 days.
_is_held(reason) if {
	reason.rule == "command.runs_unknown_program"
	_command.held[reason.match]
}

# METADATA
# title: A program that no host was asked about
# description: |
#   No table knows the program, and where the text would run was not looked at: a host may have it, or the project may declare it.
_examined.sights contains _found("unsought_program", word) if {
	some word in _command.unsought
	_is_first_sight(word)
}

# METADATA
# title: Tools of attack, by the index
# description: |
#   The index of programs tells kinds of those that no entry describes. Of these only tools that scan or attack are found by it.
_examined.sights contains _found("attacks", _spelt(call)) if {
	some program, "scans_or_attacks" in _command.kinds
	some call in _calls
	call.program == program
	_is_unknown(program)
	not _asks_for_help(call)
}

# METADATA
# title: Administration, by the index
# description: |
#   Programs that administer a machine change it where a word says so. No entry describes these.
_examined.sights contains _found("system", _spelt(call)) if {
	some program, "administers" in _command.kinds
	some call in _calls
	call.program == program
	_is_unknown(program)
	_orders_change(call)
	not _looks(call)
	not _asks_for_help(call)
	not _tries(call)
}

_orders_change(call) if {
	some word in array.slice(call.operands, 0, 2 + _leading_values(call))
	_is_change(word)
}

_is_change(word) if {
	parts := _parts_of_word(word)
	data.bailiff.tables.change_words[parts[0]]
}
