package bailiff

# METADATA
# title: Folders that an option empties
# description: |
#   Some programs empty the folder that they are given before they fill it: "venv --clear DIR", "sync --delete DIR". That is a home or
#   the system where such an option stands beside one of these.
_examined.clearing_words contains _found("deletes_recursively", _spelt(call)) if {
	some call in _calls
	some word in _options_of(call.argv)
	startswith(word, "--")
	some part in _parts_of_word(split(trim_left(word, "-"), "=")[0])
	data.bailiff.tables.clearing_words[part]
	some folder in call.operands
	_keeps_everything(folder)
	not _has_trait(call.program, "looks")
	not _has_trait(call.program, "prints")
	not _tries(call)
}

_keeps_everything(folder) if regex.match(_homes_and_system, folder)

_homes_and_system := `^(~[a-z0-9_-]*|/|\.\.(/\.\.)*|/(root|etc|usr|var|opt|srv|boot)(/[^/]+)?|/(home|Users)(/[^/]+)?)/?$`
