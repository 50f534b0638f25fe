package bailiff

# METADATA
# title: What packs say of programs
# description: |
#   A pack describes programs by their words and options, and by families of these, and what each does. The
#   table of effects gives what they do a kind. A pack makes nothing harmless, and words
#   that the table of actions has are its own.
#   Most of a call's words say nothing of it: what the few that do say is asked by these alone,
#   so that it is evaluated once for all calls that have them.
_does_as_packed(call) := {["by its words", "may_change"] | _may_change(call)} if {
	_described(call.program) == set()
} else := {["by packs", class] |
	some class in _packed(call)
	not _is_harmless_word(call)
	not _excepted(call, class)
	not _tries(call)
} | {["by its words", "may_change"] | _may_change(call)}

# The kinds of what a call does by the packs.
_packed(call) := union({
	_packed_first(call.program, array.slice(call.operands, 0, _longest_verb(call.program))),
	_packed_behind_option(call),
	_packed_by_options(call),
	_packed_by_families(call),
})

# What the packs say of a program, or of the one that it is like.
_described(program) := {about |
	some pack in data.bailiff.packs
	about := pack.programs[object.get(pack.programs[program], "like", program)]
}

# The words that the packs have of a program.
_packed_words(program) := [word |
	some about in _described(program)
	some part in ["verbs", "options"]
	some word, _ in about[part]
]

# Whether a pack says something of a kind of a program.
default _has_packed(_, _) := false

_has_packed(program, part) if {
	some about in _described(program)
	about[part]
}

# How many words the longest verb of a program has.
_longest_verb(program) := max({0} | {length |
	some about in _described(program)
	some verb, _ in about.verbs
	length := count(split(verb, " "))
})

# What the packs say of the words with which a call begins, unless the table of actions has them.
_packed_first(program, words) := {class |
	some verb in _verbs(words)
	not data.bailiff.tables.actions[program][verb]
	some class in _packed_verb(program, verb)
}

_packed_verb(program, verb) := {class |
	some about in _described(program)
	some effect in about.verbs[verb]
	class := data.bailiff.tables.effects[effect]
}

# The words behind an option at the start, if the first of them may be its value.
_packed_behind_option(call) := {class |
	_has_option_first(call)
	some verb in _verbs(array.slice(call.operands, 1, 5))
	some class in _packed_verb(call.program, verb)
}

_packed_by_options(call) := set() if {
	not _has_packed(call.program, "options")
} else := {class |
	some about in _described(call.program)
	some effects in object.filter(about.options, array.concat(call.flags, call.argv))
	some effect in effects
	class := data.bailiff.tables.effects[effect]
}

_packed_by_families(call) := set() if {
	not _has_packed(call.program, "families")
} else := {class |
	not _looks(call)
	some about in _described(call.program)
	some family, effects in about.families
	some word in array.concat(call.flags, array.slice(call.operands, 0, 3))
	glob.match(family, null, word)
	some effect in effects
	class := data.bailiff.tables.effects[effect]
}

# The words with which a call may begin: "compute instances delete".
_verbs(operands) := {concat(" ", array.slice(operands, 0, length)) |
	some length in numbers.range(1, min({4, count(operands)}))
}
