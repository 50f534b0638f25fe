# What a shell text does, as far as names alone tell.
#
# The tables give programs, their options and their subcommands kinds, and most
# kinds a rule. Adding a program to a kind takes a line in data.yaml and no code.

package bailiff

findings contains found(class, spelt(call)) if {
	some program, group in calls_by
	some class in data.bailiff.tables.programs[program]
	data.bailiff.tables.classes[class]
	some call in group
	not harmless(call)
}

findings contains found(class, spelt(call)) if {
	some program, group in calls_by
	table := data.bailiff.tables.options[program]
	some call in group
	some flag in array.concat(call.flags, call.argv)
	some class in table[flag]
}

findings contains found(class, spelt(call)) if {
	some program, group in calls_by
	table := data.bailiff.tables.actions[program]
	some call in group
	some action in actions(call)
	some class in table[action]
}

findings contains found(class, "") if {
	some feature in features
	class := data.bailiff.tables.features[feature]
}

findings contains found("hidden", "") if {
	text_is_due
	not understood
}

# The text of a request's standard input is not read here: whoever runs it hides it.
examined.interprets contains found("hidden", "") if {
	input.args.stdin != ""
	count(calls_of.interprets) > 0
}

# A finding of the class: its rule and its sentence are in the table. A grant for more
# than once covers what has the same rule and match, so that the match must say all
# that matters: a call whole, unless it is about one path or word whatever else the
# call says. What cannot say so much has none, and is granted once.
found(class, match) := {
	"rule": data.bailiff.tables.classes[class].rule,
	"message": data.bailiff.tables.classes[class].message,
	"match": told(match),
}

# A part that the text does not tell may be another one the next time. Long texts are
# cut for people, and are still told apart.
told(match) := "" if {
	regex.match(`[$\x00]|\(…\)`, match)
} else := match if {
	count(match) <= 200
} else := concat(" … ", [substring(match, 0, 200), crypto.sha256(match)])

# A call as one text, word for word, with what it was reached through.
spelt(call) := "" if {
	supplied(call)
} else := "" if {
	fed(call)
} else := concat(" ", [in_quotes(word) | some word in array.concat(call.wrappers, call.argv)])

# Two words are not one with a space in it.
in_quotes(word) := concat("", ["'", replace(word, "'", `'\''`), "'"]) if {
	regex.match(`^$|[\s']`, word)
} else := word

# Whether a call gets names from a search or from standard input.
supplied(call) if {
	some wrapper in call.wrappers
	supplies(wrapper)
}

# What comes by standard input, from a file or a pipe, may be what is run.
fed(call) if {
	features.redirect
	some path in call.reads
	not stands_in(path, call)
}

fed(call) if {
	some other in piped
	other.pipes_to == call.program
}

# Whether a path is a word of the call, or the end or beginning of one.
stands_in(path, call) if {
	some word in call.argv
	some before in ["/", "@", "=", "<"]
	contains(concat("", ["=", word, ":"]), concat("", [before, path, ":"]))
}

supplies("find")

supplies(wrapper) if data.bailiff.tables.suppliers[wrapper]

# Some programs only look, with the right first argument.
harmless(call) if data.bailiff.tables.harmless[call.program][call.argv[1]]

harmless(call) if {
	data.bailiff.tables.harmless[call.program][""]
	count(call.argv) == 1
}

# "stop", "auth token" and, where the name of a thing comes first, "* stop".
actions(call) := {call.operands[0]} if count(call.operands) == 1

actions(call) := {
	call.operands[0],
	concat(" ", [call.operands[0], call.operands[1]]),
	concat(" ", ["*", call.operands[1]]),
} if {
	count(call.operands) > 1
}

# Killing what the text itself started in the background is no finding.
examined.kills contains found("processes", spelt(call)) if {
	some call in calls_of.kills
	some target in call.operands
	not own_job(target)
	not call.argv[1] in {"-0", "-l", "-L"}
}

own_job("$!")

own_job(target) if startswith(target, "%")

# A process number of -1 means all of them; as the first argument it is a signal.
examined.kills contains found("everything", spelt(call)) if {
	some call in calls_of.kills
	some position, "-1" in call.argv
	position > 1
}

examined.kills_by_name contains found("everything", spelt(call)) if {
	some call in calls_of.kills_by_name
	some pattern in call.operands
	pattern in {"", ".", ".*", "*", "^"}
}

# The name of a variable does not say what it is set to.
findings contains found("preload", "") if {
	some name in command.assigns
	data.bailiff.tables.preloads[name]
}

examined.exports contains found("preload", "") if {
	some call in calls_of.exports
	some word in call.operands
	name := split(word, "=")[0]
	data.bailiff.tables.preloads[name]
}

examined.node_packages contains found("packages", spelt(call)) if {
	some call in calls_of.node_packages
	words := {word | some word in call.argv}
	count(words & {"uninstall", "remove", "rm", "un", "unlink", "r"}) > 0
	count(words & {"-g", "--global", "global", "--location=global"}) > 0
}

examined.python contains found("packages", spelt(call)) if {
	some call in calls_of.python
	{"-m", "pip", "uninstall"} - {word | some word in call.argv} == set()
}

examined.bailiff contains found("own_settings", spelt(call)) if {
	some call in calls_of.bailiff
	not looking(call)
}

looking(call) if data.bailiff.tables.bailiff_looks[call.operands[0]]

looking(call) if data.bailiff.tables.bailiff_looks[concat(" ", array.slice(call.operands, 0, 2))]

# Sockets of engines, and bailiff's own, are doors even for a harmless client.
examined.sends contains found(class, spelt(call)) if {
	some call in calls_of.sends
	some word in call.argv
	parts := split(word, "/")
	class := data.bailiff.tables.sockets[parts[count(parts) - 1]]
}

examined.tunes contains found("kernel", operand) if {
	some call in calls_of.tunes
	some operand in call.operands
	contains(operand, "=")
}

# Variables of the agent and of bailiff change what they ask about.
findings contains found("own_settings", "") if {
	some name in command.assigns
	regex.match(`^(HERMES|BAILIFF)_`, name)
}
