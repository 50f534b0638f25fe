package bailiff

# METADATA
# title: What packs say of programs
# description: |
#   A pack describes programs by their words and options, and by families of these, and what each does. The
#   table of effects gives what they do a kind. A pack makes nothing harmless, and words
#   that the table of actions has are its own.
_does_as_packed(call) := {["by packs", class] |
	some class in _packed(call.program, call)
	not _is_harmless_word(call)
	not _only_tried(call, class)
	not _changes_nothing(call)
} | {["by its words", "may_change"] | _may_change(call)}

# The kinds of what a call does by the packs.
_packed(program, call) := {class |
	some about in _described(program)
	some effect in _effects(about, call)
	class := data.bailiff.tables.effects[effect]
}

# What the packs say of a program, or of the one that it is like.
_described(program) := {about |
	some pack in data.bailiff.packs
	about := pack.programs[object.get(pack.programs[program], "like", program)]
}

_effects(about, call) := (({effect |
	some verb in _verbs(call.operands)
	not data.bailiff.tables.actions[call.program][verb]
	some effect in about.verbs[verb]
} | {effect |
	some verb in _verbs(_behind_option(call))
	some effect in about.verbs[verb]
}) | {effect |
	some word in array.concat(call.flags, call.argv)
	some effect in about.options[word]
}) | {effect |
	some family, effects in about.families
	not _looks(call)
	some word in array.concat(call.flags, array.slice(call.operands, 0, 3))
	glob.match(family, null, word)
	some effect in effects
}

# The words with which a call may begin: "compute instances delete".
_verbs(operands) := {concat(" ", array.slice(operands, 0, length)) |
	some length in numbers.range(1, min({4, count(operands)}))
}

# The words behind an option at the start, if the first of them may be its value.
_behind_option(call) := array.slice(call.operands, 1, 5) if {
	startswith(call.argv[1], "-")
	not contains(call.argv[1], "=")
	call.argv[2] == call.operands[0]
}
