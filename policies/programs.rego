package bailiff

# METADATA
# title: What is known of a program
# description: |
#   An entry below policies/bailiff/programs says all that is known of a program: classes, traits, and what its words do. Rows of a team
#   in the tables and packs add to it: a row of a table wins over the same word of the entry.
_program_entries(program) := [entry |
	some family
	entry := data.bailiff.programs[family][program]
]

# The classes of a program. A row of the table replaces those of the entry.
_kinds_of(program) := row if {
	row := data.bailiff.tables.programs[program]
} else := [kind | some entry in _program_entries(program); some kind in entry.classes]

# The kinds of a program that are classes of findings.
_classed(program) := {class |
	some class in _kinds_of(program)
	data.bailiff.tables.classes[class]
}

# Whether a program has a trait. A row of a table gives it or takes it away.
default _has_trait(_, _) := false

_has_trait(program, trait) if _trait_row(program, trait)

_has_trait(program, trait) if {
	some entry in _program_entries(program)
	trait in entry.traits
	not _lacks_trait(program, trait)
}

_lacks_trait(program, trait) if _trait_row(program, trait) == false

_trait_row(program, "known") := data.bailiff.tables.known[program]

_trait_row(program, "looks") := data.bailiff.tables.lookers[program]

_trait_row(program, "starts_shell") := data.bailiff.tables.shell_starters[program]

_trait_row(program, "starts_plainly") := data.bailiff.tables.plain_starters[program]

_trait_row(program, "supplies") := data.bailiff.tables.suppliers[program]

_trait_row(program, "prints") := data.bailiff.tables.printers[program]

_trait_row(program, "ignores_arguments") := data.bailiff.tables.ignores_arguments[program]

# First words with which a program only looks; "" stands for none at all.
_looking_words(program) := (_words_that_look(program) - {word | data.bailiff.tables.harmless[program][word] == false}) | {word |
	data.bailiff.tables.harmless[program][word]
}

_words_that_look(program) := {word | some entry in _program_entries(program); some word in entry.harmless}

# Whether an option that may stand before such a word is followed by its value: "value" or "flag".
_leading_option(program, option) := row if {
	row := data.bailiff.tables.leading_options[program][option]
} else := [is | some entry in _program_entries(program); is := entry.leading_options[option]][0]

# What a program installs, by its first word or an option.
_installs_by(program) := row if {
	row := data.bailiff.tables.installing[program]
} else := object.union_n([entry.installs | some entry in _program_entries(program)])

# The verbs behind which a launcher has the name of what it runs.
_launches_by(program) := row if {
	row := data.bailiff.tables.launchers[program]
} else := [verb | some entry in _program_entries(program); some verb in entry.launches]

# What operands of a cloud's command line do, by pattern.
_patterns(program) := object.union(
	object.union_n([entry.patterns | some entry in _program_entries(program)]),
	object.union_n([row | row := data.bailiff.tables.remote_verbs[program]]),
)

default _is_unknown(_) := false

_is_unknown(program) if {
	program != ""
	not _has_trait(program, "known")
	not _has_trait(program, "looks")
	not data.bailiff.tables.programs[program]
	not data.bailiff.tables.options[program]
	not data.bailiff.tables.actions[program]
	not data.bailiff.tables.harmless[program]
	count([entry | some entry in _program_entries(program); some part in ["classes", "harmless"]; entry[part]]) == 0
}
