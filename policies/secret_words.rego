package bailiff

# METADATA
# title: Words that show secrets
# description: |
#   Programs hide the secrets that they know unless they are told not to: "--show-token", "--with-secrets", "--unmask". Such an option is
#   read by its parts, of any program, so that no list of options is needed. What takes a secret in is another matter.
_examined.secret_words contains _found("credentials", _spelt(call)) if {
	some call in _calls
	some word in _options_of(call.argv)
	startswith(word, "--")
	_shows_secrets(_parts_of_word(split(trim_left(word, "-"), "=")[0]))
	not _asks_for_help(call)
}

_shows_secrets(parts) if {
	some part in parts
	data.bailiff.tables.secret_words.alone[part]
	not _negated(parts)
}

_shows_secrets(parts) if {
	some part in parts
	data.bailiff.tables.secret_words.shows[part]
	some other in _with_pairs(parts)
	data.bailiff.tables.secret_words.secrets[other]
	not _negated(parts)
}

_shows_secrets(parts) if {
	some part in parts
	data.bailiff.tables.loss_words.negates[part]
	some other in parts
	data.bailiff.tables.secret_words.hides[other]
}

# METADATA
# title: Programs in the place of secrets
# description: |
#   An interpreter prints what it cannot run, so that a file with secrets is read by running it.
_examined.interprets contains _found("credentials", path) if {
	some call in _calls_of.interprets
	some path in [call.operands[0]]
	regex.match(`^[/~.]`, path)
	"credentials" in _classes_of("reads", path)
}
