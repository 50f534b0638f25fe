# What a shell text does, as far as names alone tell.
#
# The tables give programs, their options and their subcommands kinds, and most
# kinds a rule. Adding a program to a kind takes a line in data.yaml and no code.

package bailiff

findings contains found(class, program) if {
	some program, group in calls_by
	some class in data.bailiff.tables.programs[program]
	data.bailiff.tables.classes[class]
	some call in group
	not harmless(call)
}

findings contains found(class, concat(" ", [program, flag])) if {
	some program, group in calls_by
	table := data.bailiff.tables.options[program]
	some call in group
	some flag in array.concat(call.flags, call.argv)
	some class in table[flag]
}

findings contains found(class, concat(" ", array.concat([program], array.slice(call.operands, 0, 2)))) if {
	some program, group in calls_by
	table := data.bailiff.tables.actions[program]
	some call in group
	some action in actions(call)
	some class in table[action]
}

findings contains found(class, feature) if {
	some feature in features
	class := data.bailiff.tables.features[feature]
}

findings contains found("hidden", "") if {
	text_is_due
	not understood
}

# The text of a request's standard input is not read here: whoever runs it hides it.
examined.interprets contains found("hidden", call.program) if {
	input.args.stdin != ""
	some call in calls_of.interprets
}

# A finding of the class: its rule and its sentence are in the table.
found(class, match) := {
	"rule": data.bailiff.tables.classes[class].rule,
	"message": data.bailiff.tables.classes[class].message,
	"match": substring(replace(match, "\u0000", ""), 0, 200),
}

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
examined.kills contains found("processes", concat(" ", call.argv)) if {
	some call in calls_of.kills
	some target in call.operands
	not own_job(target)
	not call.argv[1] in {"-0", "-l", "-L"}
}

own_job("$!")

own_job(target) if startswith(target, "%")

# A process number of -1 means all of them; as the first argument it is a signal.
examined.kills contains found("everything", concat(" ", call.argv)) if {
	some call in calls_of.kills
	some position, "-1" in call.argv
	position > 1
}

examined.kills_by_name contains found("everything", concat(" ", call.argv)) if {
	some call in calls_of.kills_by_name
	some pattern in call.operands
	pattern in {"", ".", ".*", "*", "^"}
}

findings contains found("preload", name) if {
	some name in command.assigns
	data.bailiff.tables.preloads[name]
}

examined.exports contains found("preload", name) if {
	some call in calls_of.exports
	some word in call.operands
	name := split(word, "=")[0]
	data.bailiff.tables.preloads[name]
}

examined.node_packages contains found("packages", concat(" ", call.argv)) if {
	some call in calls_of.node_packages
	words := {word | some word in call.argv}
	count(words & {"uninstall", "remove", "rm", "un", "unlink", "r"}) > 0
	count(words & {"-g", "--global", "global", "--location=global"}) > 0
}

examined.python contains found("packages", concat(" ", call.argv)) if {
	some call in calls_of.python
	{"-m", "pip", "uninstall"} - {word | some word in call.argv} == set()
}

examined.bailiff contains found("own_settings", concat(" ", call.argv)) if {
	some call in calls_of.bailiff
	not looking(call)
}

looking(call) if data.bailiff.tables.bailiff_looks[call.operands[0]]

looking(call) if data.bailiff.tables.bailiff_looks[concat(" ", array.slice(call.operands, 0, 2))]

# Sockets of engines, and bailiff's own, are doors even for a harmless client.
examined.sends contains found(class, word) if {
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
findings contains found("own_settings", name) if {
	some name in command.assigns
	regex.match(`^(HERMES|BAILIFF)_`, name)
}
