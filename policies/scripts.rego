package bailiff

# METADATA
# title: Files that small languages name
# description: |
#   Scripts of awk and find, and commands of an editor, name files that no option
#   shows.
_examined.awks contains _found(class, path) if {
	some call in _calls_of.awks
	some word in call.argv
	some path in _quoted_after(`[<>]\s*"([^"]+)"`, word)
	some class in (_classes_of("writes", path) | _classes_of("reads", path))
}

_examined.searches contains _found(class, path) if {
	some call in _calls_of.searches
	some position, action in call.argv
	action in {"-fprint", "-fprint0", "-fprintf", "-fls"}
	path := call.argv[position + 1]
	some class in _classes_of("writes", path)
}

# A command of an editor that writes a file of its own choice.
_examined.editors contains _found(class, path) if {
	some call in _calls_of.editors
	some word in call.argv
	some path in _quoted_after(`^\+?:?\s*(?:wq?|x|sav|saveas)!?\s+([/~][^\s|]+)`, word)
	some class in _classes_of("writes", path)
}

# An archive or byte code that the text itself makes, and an interpreter runs: what is in it was not read.
_examined.interprets contains _found("inline", _spelt(call)) if {
	some call in _calls_of.interprets
	archive := call.operands[0]
	regex.match(`\.(zip|pyz|pyc|whl|egg|jar|phar)$`, archive)
	some path in _command.writes
	endswith(concat("", ["/", path]), concat("", ["/", trim_prefix(archive, "./")]))
}

_quoted_after(pattern, word) := {groups[1] | some groups in regex.find_all_string_submatch_n(pattern, word, -1)}
