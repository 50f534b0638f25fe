package bailiff

# METADATA
# title: What the tables say of programs
# description: |
#   Entries of programs give them, their options and their subcommands classes, and most classes
#   a rule. Adding a program takes an entry below policies/bailiff/programs and no code.
_examined.calls contains _found(class, _spelt(call)) if some [_, class, call] in _done

_found_by_name contains [_found(class, _spelt(call)), class, call] if some ["by name", class, call] in _done

_done contains [source, class, call] if {
	_doers != {}
	some call in _calls
	_doers[call.program]
	some [source, class] in _does(call)
	not _asks_for_help(call)
	not _excepted_by_text(call, source, class)
}

# The programs called that may do anything by what is known of them.
_doers := {program: true | some program in _command.programs; _may_do(program)}

# What a call does, apart from what stands beside it. A call that has no word of those that tell something of its program does nothing.
_does(call) := set() if {
	_is_told_by_words(call.program)
	object.filter(_telling_words(call.program), array.concat(array.concat(call.flags, call.argv), call.operands)) == {}
} else := ((({["by name", class] |
	some class in _classed(call.program)
	not _is_harmless_word(call)
	not _excepted(call, class)
} | {["by options", class] |
	some classes in object.filter(data.bailiff.tables.options[call.program], array.concat(call.flags, call.argv))
	some class in classes
}) | {["by actions", class] |
	some class in _acted(call.program, array.slice(call.operands, 0, 2))
	not _excepted(call, class)
}) | {["by actions", class] |
	_has_option_first(call)
	some class in _acted(call.program, array.slice(call.operands, 1, 3))
	not _is_harmless_word(call)
	not _excepted(call, class)
}) | _does_by_words(call)

# Whether what a call of a program does is told by words that are described, and by nothing else.
default _is_told_by_words(_) := false

_is_told_by_words(program) if {
	_classed(program) == set()
	not _is_unknown(program)
	not _has_families(program)
}

# The words of a program that are described, with the beginnings of those that are several words, since an argument may be
# several, too.
_telling_words(program) := {beginning: true |
	some word in _words_described(program)
	some beginning in (_beginnings(word) | _beginnings(trim_prefix(word, "* ")))
}

_beginnings(word) := {concat(" ", array.slice(parts, 0, length)) |
	parts := split(word, " ")
	some length in numbers.range(1, count(parts))
}

# What the first operands of a call ask of its program.
_acted(program, first) := {class |
	some action in _actions(first)
	some class in data.bailiff.tables.actions[program][action]
}

# Whether a call starts with an option of which the first operand may be the value: "vault -address x kv delete".
_has_option_first(call) if {
	startswith(call.argv[1], "-")
	not contains(call.argv[1], "=")
	call.argv[2] == call.operands[0]
}

# How many of the first operands stand right behind an option, and may be its value: "tool -u ana -h a.test node drop".
_leading_values(call) := 0 if {
	not startswith(call.argv[1], "-")
} else := min({count(call.operands)} | {at |
	some at, operand in call.operands
	not _may_be_a_value(call, operand)
})

_may_be_a_value(call, operand) if {
	some at, option in call.argv
	startswith(option, "-")
	not contains(option, "=")
	call.argv[at + 1] == operand
}

# Whether calls of a program may do anything.
default _may_do(_) := false

_may_do(program) if count(_classed(program)) > 0

_may_do(program) if data.bailiff.tables.options[program]

_may_do(program) if data.bailiff.tables.actions[program]

_may_do(program) if count(_descriptions(program)) > 0

_may_do(program) if _is_unknown(program)

# Classes that a call which only asks for help or a trial has not.
_effects_of_a_run := {"deletes_elsewhere": true, "changes_elsewhere": true, "serves": true, "protection": true, "mounts": true}

# METADATA
# title: What a kind does not mean
# description: |
#   A call that asks for help, or what would be done, does nothing elsewhere.
_excepted(call, class) if {
	_effects_of_a_run[class]
	not _ignores_arguments(call.program)
	count({flag | some flag in call.flags} & {"--help", "--dry-run", "--dryrun"}) > 0
}

# "cargo yank --version 1.0.0 name" names a version.
_excepted(call, class) if {
	_effects_of_a_run[class]
	not _ignores_arguments(call.program)
	call.argv[count(call.argv) - 1] == "--version"
}

# "aws s3 cp s3://bucket/key ." fetches, where it is all of the text and the file lands in the project.
_excepted_by_text(call, source, "sends_files") if {
	source != "by options"
	call.program in {"aws", "gsutil", "gcloud"}
	count(_calls) == 1
	some at in [1, 2]
	call.argv[at] == "cp"
	regex.match(`^(s3|gs)://`, call.argv[at + 1])
	regex.match(`^([A-Za-z0-9_][A-Za-z0-9_./-]*|\.)$`, call.argv[at + 2])
	not regex.match(`\.\.|/\.`, call.argv[at + 2])
	count([word | some word in call.argv; contains(word, "://")]) == 1
	not "--recursive" in call.argv
	not "-r" in call.argv
}

_harmless(call) if _is_harmless_word(call)

_harmless(call) if _asks_for_help(call)

# "kubectl -n shop get pods"
_is_harmless_word(call) if _only_looks_at(call, _behind(call, 1))

_is_harmless_word(call) if _only_looks_at(call, _behind(call, _behind(call, 1)))

# "docker compose -f dev.yml ps": a first word may have options of its own before its verb.
_is_harmless_word(call) if {
	within := call.argv[1]
	_leads_within(call, within, 2)
	at := min([place | some place in numbers.range(3, max([3, count(call.argv) - 1])); not _leads_within(call, within, place)])
	concat(" ", [within, call.argv[at]]) in _looking_words(call.program)
	not _opens_more(call)
	not _leads_far(call, within, at)
}

# The value of an option before the verb is fetched where it is an address: no folder's name has a dot.
_leads_far(call, within, verb) if {
	some place, word in array.slice(call.argv, 0, verb)
	_leading_option(call.program, concat(" ", [within, split(word, "=")[0]])) == "file"
	not regex.match(`^[^=]+=(~?/|\.{1,2}/)?(([\w-]+|\.\.)/)*[\w.-]+$`, _with_value(call, place, word))
}

_with_value(_, _, word) := word if contains(word, "=")

_with_value(call, place, word) := concat("=", [word, call.argv[place + 1]]) if not contains(word, "=")

_leads_within(call, within, place) if _leads_by(call, within, call.argv[place]) == "flag"

_leads_within(call, within, place) if {
	[option, _] := split(call.argv[place], "=")
	_leads_by(call, within, option) == "value"
}

# What looks like an option may be one, and no value of that before it.
_leads_within(call, within, place) if {
	_leads_by(call, within, call.argv[place]) == "value"
	not startswith(call.argv[place + 1], "-")
}

_leads_within(call, within, place) if {
	place > 2
	not startswith(call.argv[place], "-")
	_leads_by(call, within, call.argv[place - 1]) == "value"
}

_leads_by(call, within, option) := {"file": "value", "value": "value", "flag": "flag"}[kind] if {
	kind := _leading_option(call.program, concat(" ", [within, option]))
}

# The place behind an option before the first argument.
_behind(call, at) := at + 2 if {
	_leading_option(call.program, call.argv[at]) == "value"
	not startswith(call.argv[at + 1], "unix:")
}

_behind(call, at) := at + 1 if _leading_option(call.program, call.argv[at]) == "flag"

_behind(call, at) := at + 1 if {
	[option, _] := split(call.argv[at], "=")
	_leading_option(call.program, option) == "value"
}

_only_looks_at(call, at) if {
	call.argv[at] in _looking_words(call.program)
	not _opens_more(call)
}

_only_looks_at(call, at) if {
	concat(" ", [call.argv[at], call.argv[at + 1]]) in _looking_words(call.program)
	not _opens_more(call)
}

# Some programs only look, with the right first argument.
_is_harmless_word(call) if _only_looks_at(call, 1)

_is_harmless_word(call) if {
	"" in _looking_words(call.program)
	count(call.argv) == 1
}

# "rm --help", "docker image prune --help", "helm help install", where nothing but plain words comes before,
# and the words are not those of another program.
_asks_for_help(call) if {
	some at in [1, 2, 3]
	call.argv[at] == "--help"
	_reads_arguments(call)
	every word in array.slice(call.argv, 1, at) {
		regex.match(`^[a-z][a-z0-9-]*$`, word)
	}
	not _wraps(call.program)
}

_asks_for_help(call) if _asks_for_version(call)

_asks_for_help(call) if {
	call.argv[1] in {"help", "completion"}
	_explains(call.program)
}

_asks_for_help(call) if {
	call.argv[1] in {"help", "completion"}
	count(_looking_words(call.program)) > 0
}

_explains(program) if data.bailiff.tables.actions[program]

_explains(program) if _has_trait(program, "explains")

# "frida --version": alone, with nothing that another program could add to it, and in a text that does nothing else by which
# the name could be another program's.
_asks_for_version(call) if {
	_asks_for_versions
	count(call.argv) == 2
	call.argv[1] == "--version"
	count(object.get(call, "wrappers", [])) == 0
	_reads_arguments(call)
	not _wraps(call.program)
}

_asks_for_versions if {
	not "PATH" in _command.assigns
	every one in _calls {
		one.argv[1] == "--version"
	}
}

# Whether a call is of the program that the tables know, and this looks at its arguments: a script may act whatever they say, and a
# program of the project, or one that the text itself wrote, may be another one of the same name.
_reads_arguments(call) if {
	not _ignores_arguments(call.program)
	not _is_relative(call.argv[0])
	not call.argv[0] in _command.writes
	not "PATH" in object.get(call, "assigns", [])
}

_ignores_arguments(program) if endswith(program, ".sh")

_ignores_arguments(program) if _has_trait(program, "ignores_arguments")

_is_relative(word) if {
	contains(word, "/")
	not startswith(word, "/")
}

_wraps(program) if {
	some call in _calls
	program in call.wrappers
}

# "stop", "auth token" and, where the name of a thing comes first, "* stop".
_actions([first]) := {first}

_actions([first, second]) := {first, concat(" ", [first, second]), concat(" ", ["*", second])}
