package bailiff

# METADATA
# title: First sight of a program
# description: |
#   No entry, no index, no folder of installed programs and no project knows the program. Once people granted it by its name, it is
#   known to them. A team that says anything of it in a table or an entry of its own knows it, too. The shipped verdict allows it.
_examined.calls contains _found("unknown_program", word) if {
	some word in _command.unknown
	_is_unknown(regex.replace(word, `^.*/`, ""))
}

# METADATA
# title: Tools of attack, by the index
# description: |
#   The index of programs tells kinds of those that no entry describes. Of these only tools that scan or attack are found by it.
_examined.calls contains _found("attacks", _spelt(call)) if {
	some program, "scans_or_attacks" in _command.kinds
	some call in _calls
	call.program == program
	_is_unknown(program)
	not _asks_for_help(call)
}
