package bailiff

# METADATA
# title: Options that load code
# description: |
#   A program of any kind may take a text that it runs by an option: "--lua-filter x.lua", "--startup-script /tmp/x", "--plugin=./x.so". The
#   name of such an option says so by its parts, its value is a file of code or lies outside of the project.
_examined.loading_words contains _found("preload", _spelt(call)) if {
	some call in _calls
	some position, word in _options_of(call.argv)
	regex.match(`^--?[A-Za-z]`, word)
	[name, value] := _option_and_value(call.argv, position)
	_names_what_is_loaded(call.program, name)
	_is_code(value)
	not _has_trait(call.program, "prints")
	not _asks_for_help(call)
}

_option_and_value(argv, position) := [name, value] if {
	contains(argv[position], "=")
	name := split(argv[position], "=")[0]
	value := trim_prefix(argv[position], concat("", [name, "="]))
} else := [argv[position], argv[position + 1]]

_names_what_is_loaded(program, name) if {
	not _is_one_letter(name)
	some part in _parts_of_word(trim_left(name, "-"))
	data.bailiff.tables.loading_words[part]
	not data.bailiff.tables.loading_known[program][name]
}

_is_one_letter(name) if regex.match(`^-[A-Za-z]$`, name)

_is_code(value) if regex.match(`(?i)^[^\s:]*\.(lua|luac|so|dll|dylib|py|pyc|rb|pl|js|mjs|cjs|el|vim|scm|tcl|jar|wasm|sh|r)$`, value)

_is_code(value) if {
	regex.match(`^[/~]`, value)
	_strange(value)
}
