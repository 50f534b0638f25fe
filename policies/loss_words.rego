package bailiff

# METADATA
# title: Words that tell of loss or force
# description: |
#   Programs that no table knows are honest by their options: "--accept-data-loss" says what may happen. Such words are
#   read by their parts, so that no list of options is needed. They tell nothing of programs that only look or print.
_examined.loss_words contains _found("loss", _spelt(call)) if {
	some call in _calls
	_tells_of_loss(call)
	not _loses_nothing(call)
}

_loses_nothing(call) if _harmless(call)

_loses_nothing(call) if _tries(call)

_loses_nothing(call) if _has_trait(call.program, "looks")

_loses_nothing(call) if _has_trait(call.program, "prints")

_tells_of_loss(call) if {
	some word in _options_of(call.argv)
	startswith(word, "--")
	_option_of_loss(_parts_of_word(split(trim_left(word, "-"), "=")[0]))
}

# "-purge", "-forceDelete": a word behind a single dash, too long for letters that stand together by chance.
_tells_of_loss(call) if {
	some word in _options_of(call.argv)
	regex.match(`^-[a-z]{4,}([-_A-Z]|=|$)`, word)
	_option_of_loss(_parts_of_word(split(trim_left(word, "-"), "=")[0]))
}

# "--deletion-protection=false", "-safemode leave": what guards is taken away by the option's value.
_tells_of_loss(call) if {
	some at, word in _options_of(call.argv)
	startswith(word, "-")
	some part in _with_pairs(_parts_of_word(trim_left(split(word, "=")[0], "-")))
	data.bailiff.tables.loss_words.guards[part]
	data.bailiff.tables.loss_words.lifts[lower(_value_at(call.argv, at))]
}

_value_at(argv, at) := split(argv[at], "=")[1] if {
	contains(argv[at], "=")
} else := argv[at + 1]

# "-kill ID": nothing else is said of what is ended.
_tells_of_loss(call) if {
	some word in _options_of(call.argv)
	startswith(word, "-")
	data.bailiff.tables.loss_words.whole[split(trim_left(word, "-"), "=")[0]]
}

# A word behind "--" is no option.
_options_of(argv) := array.slice(argv, 0, min([at | some at, "--" in array.concat(argv, ["--"])]))

# "db:drop" and "migrate reset", as the first operands, or behind the name of a script that an interpreter runs.
_tells_of_loss(call) if {
	not data.bailiff.tables.loss_words.names[call.program]
	some word in array.slice(call.operands, 0, 3)
	not _names_path(word)
	not _is_file_of(call, word)
	_ends_what_is_kept(_parts_of_word(word))
}

_tells_of_loss(call) if {
	not data.bailiff.tables.loss_words.names[call.program]
	some at in [0, 1]
	data.bailiff.tables.loss_words.kept[call.operands[at]]
	data.bailiff.tables.loss_words.ends[call.operands[at + 1]]
}

# "push --force" of a schema; that of a repository is a matter of its own rules.
_tells_of_loss(call) if {
	"--force" in call.argv
	not data.bailiff.tables.loss_words.names[call.program]
	some word in array.slice(call.operands, 0, 3)
	not _names_path(word)
	not _is_file_of(call, word)
	some part in _parts_of_word(word)
	data.bailiff.tables.loss_words.forced[part]
}

_option_of_loss(parts) if {
	some part in parts
	data.bailiff.tables.loss_words.alone[part]
	not _negated(parts)
}

_option_of_loss(parts) if {
	some part in parts
	data.bailiff.tables.loss_words.loses[part]
	some other in parts
	data.bailiff.tables.loss_words.lets[other]
	not _negated(parts)
}

_option_of_loss(parts) if {
	some part in _with_pairs(parts)
	data.bailiff.tables.loss_words.guards[part]
	some other in parts
	data.bailiff.tables.loss_words.passes[other]
}

_negated(parts) if {
	some part in parts
	data.bailiff.tables.loss_words.negates[part]
}

_ends_what_is_kept(parts) if {
	some part in parts
	data.bailiff.tables.loss_words.kept[part]
	some other in parts
	data.bailiff.tables.loss_words.ends[other]
}

# The parts of a word: "allowDataLoss", "allow-data-loss" and "allow_data_loss" have the same.
_parts_of_word(word) := split(lower(regex.replace(regex.replace(word, `([a-z])([A-Z])`, "$1-$2"), `[-_:]+`, "-")), "-")

_with_pairs(parts) := array.concat(parts, [concat("-", [part, parts[at + 1]]) | some at, part in parts])

_names_path(word) if regex.match(`[./\s]`, word)

_is_file_of(call, word) if {
	some path in array.concat(call.reads, call.writes)
	endswith(path, concat("", ["/", word]))
}

_is_file_of(call, word) if word in call.writes

_is_file_of(call, word) if word in call.reads
