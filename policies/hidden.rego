package bailiff

# METADATA
# title: Texts that do not tell what would run
# description: |
#   A text that cannot be read may do anything, so it is found.
_found_in_text contains _found(class, "") if {
	some feature in _features
	class := data.bailiff.tables.features[feature]
}

# Logs of earlier releases do not tell what a program in a shell text does.
_found_in_text contains _found("inline", "") if {
	"inline_program" in _features
	not "read_program" in _features
	not _command.code
}

_found_in_text contains _found("hidden", "") if {
	_text_is_due
	not _understood
}

# A name that no program has stands for one that the shell or a later one puts in.
_found_in_text contains _found("hidden", "") if {
	some program in _command.programs
	startswith(program, "{")
	endswith(program, "}")
	contains(program, ",")
}

# The standard input of a request is not read here, so a text that runs it hides its meaning.
_examined.interprets contains _found("hidden", "") if {
	input.args.stdin != ""
	count(_calls_of.interprets) > 0
}

# METADATA
# title: Text that a shell expands twice
# description: |
#   Arithmetic and names of array elements are expanded once more by the builtins that
#   take them: a[$(command)] runs the command.
_examined.evaluates contains _found("hidden", "") if {
	some call in _calls_of.evaluates
	some word in array.slice(call.argv, 1, count(call.argv))
	regex.match("\\[[^\\]]*(\\$\\([^…]|`)", word)
}

_examined.tracing contains _found("hidden", "") if {
	"PS4" in _command.assigns
	regex.match("PS4=.{0,3}[^;\\n]*(\\$\\(|`)", _command.text)
}
