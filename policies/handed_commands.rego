package bailiff

# METADATA
# title: Commands for another place
# description: |
#   A program that nothing describes may carry a command to where nothing is judged: in a field of JSON that is called so, or as several
#   commands in one word.
_examined.speaking contains _found("inline", _spelt(call)) if {
	some call in _speaking
	not _has_entry(call)
	regex.match(`"\s*:|\s(\|\|?|&&)\s`, concat("\u0000", call.argv))
	some word in array.slice(call.argv, 1, count(call.argv))
	_is_command_for_another(word)
	not _asks_for_help(call)
}

_is_command_for_another(word) if regex.match(`^[{\[].*"(?i:cmd|command|shell|exec|execute|script|argv)"\s*:\s*["\[]`, word)

_has_entry(call) if {
	not _is_script(call)
	count(_program_entries(call.program)) > 0
}

# Names of programs on both sides of what joins commands.
_is_command_for_another(word) if {
	regex.match(`\s(\|\|?|&&)\s`, word)
	every piece in regex.split(`\s(?:\|\|?|&&)\s`, word) {
		regex.match(`^\s*[A-Za-z][\w.-]*(\s|$)`, piece)
	}
	regex.match(`\s[/-][A-Za-z]|&&`, word)
}
