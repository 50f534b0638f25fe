package bailiff

# METADATA
# title: What the words of a call do
# description: |
#   Entries and packs describe programs by their words and options, and by families of these, and what each does. The
#   table of effects gives what they do a class. Neither makes anything harmless, and words
#   that the table of actions has are its own.
_does_by_words(call) := {["by its words", "may_change"] | _may_change(call)} if {
	count(_descriptions(call.program)) == 0
} else := ({["by options", class] |
	some class in _classes_of_options(call)
	not _only_changes_behind_a_look(call, class)
} | {["by verbs", class] |
	some class in _classes_of_words(call)
	not _is_harmless_word(call)
	not _excepted(call, class)
	not _is_tried(call, class)
}) | {["by its words", "may_change"] | _may_change(call)}

# What only looks changes nothing by an option, which may still run something: "keytool -list -cacerts".
_only_changes_behind_a_look(call, class) if {
	not class in {"inline", "preload", "hidden", "reverse_shell", "downloaded", "decoded", "privilege"}
	_is_harmless_word(call)
}

# Behind "--dry-run" a verb changes nothing, where no option takes that word for its value. What a program starts may have words of its own.
_is_tried(call, class) if {
	_effects_of_a_trial[class]
	not _ignores_arguments(call.program)
	some position, word in call.argv
	word in {"--help", "--dry-run", "--dryrun", "--generate-cli-skeleton"}
	not _may_take_a_value(call.argv[position - 1])
}

_may_take_a_value(word) if {
	startswith(word, "-")
	not contains(word, "=")
}

_effects_of_a_trial := object.union(
	_effects_of_a_run,
	{"costs": true, "grants": true, "publishes": true, "packages": true, "history": true},
)

# The classes of what the verbs of a call and families of its words do.
_classes_of_words(call) := union({
	_classes_of_verbs(call.program, _verbs(array.slice(call.operands, 0, _longest_verb(call.program)))),
	_classes_behind_option(call),
	_classes_of_families(call),
})

# What is said of the words of a program: its own entry and that of the program that it is like, and packs.
_descriptions(program) := array.concat(
	[entry |
		some name in array.concat(_described_as(program), [entry.like | some entry in _program_entries(program)])
		some entry in _program_entries(name)
		some part in ["verbs", "options", "families"]
		entry[part]
	],
	[about |
		some pack in data.bailiff.packs
		some name in _described_as(program)
		about := pack.programs[object.get(pack.programs[name], "like", name)]
	],
)

# A program that no entry has may be one that has, installed as a script: with an ending such as .sh.
_described_as(program) := [program] if {
	count(_program_entries(program)) > 0
} else := [program, regex.replace(program, `\.(sh|py|pl|rb|js)$`, "")]

# The words of a program that the descriptions and the tables have.
_words_described(program) := {word |
	some about in _descriptions(program)
	some part in ["verbs", "options"]
	some word, _ in about[part]
} | ({word | some word, _ in data.bailiff.tables.options[program]} | {word | some word, _ in data.bailiff.tables.actions[program]})

default _has_families(_) := false

_has_families(program) if {
	some about in _descriptions(program)
	about.families
}

# How many words the longest verb of a program has.
_longest_verb(program) := max({0} | {length |
	some about in _descriptions(program)
	some verb, _ in about.verbs
	length := count(split(verb, " "))
})

_classes_of_verbs(program, verbs) := {class |
	some about in _descriptions(program)
	some verb in verbs
	some effect in about.verbs[verb]
	not data.bailiff.tables.actions[program][verb]
	class := _class_of_effect(effect)
}

# An effect is a word of the table, or a class itself.
_class_of_effect(effect) := object.get(data.bailiff.tables.effects, effect, effect)

# The words behind options at the start, if those before them may be their values.
_classes_behind_option(call) := {class |
	_has_option_first(call)
	some skipped in numbers.range(1, _leading_values(call))
	some class in _classes_of_verbs(call.program, _verbs(array.slice(call.operands, skipped, skipped + 4)))
}

_classes_of_options(call) := {class |
	some about in _descriptions(call.program)
	some effects in object.filter(about.options, array.concat(call.flags, call.argv))
	some effect in effects
	class := _class_of_effect(effect)
}

_classes_of_families(call) := set() if {
	not _has_families(call.program)
} else := {class |
	not _looks(call)
	some about in _descriptions(call.program)
	some family, effects in about.families
	some word in array.concat(call.flags, array.slice(call.operands, 0, 3))
	glob.match(family, null, word)
	some effect in effects
	class := _class_of_effect(effect)
}

# The words with which a call may begin, "compute instances delete", and the second where the name of a thing comes first.
_verbs(operands) := {concat(" ", array.slice(operands, 0, length)) |
	some length in numbers.range(1, min({4, count(operands)}))
} | {concat(" ", ["*", operands[1]]) | count(operands) > 1}
