# What a shell text does, as far as names alone tell.
#
# The tables give programs, their options and their subcommands classes, and each
# class its rule. Adding a program to a class takes a line in data.yaml and no code.

package bailiff

findings contains found(class, call.program) if {
	some call in calls
	some class in data.bailiff.tables.programs[call.program]
	not harmless(call)
}

findings contains found(class, concat(" ", [call.program, flag])) if {
	some call in calls
	some flag in call.flags
	some class in data.bailiff.tables.options[call.program][flag]
}

findings contains found(class, concat(" ", array.concat([call.program], array.slice(call.operands, 0, 2)))) if {
	some call in calls
	some action in actions(call)
	some class in data.bailiff.tables.actions[call.program][action]
}

findings contains found(class, feature) if {
	some feature in features
	class := data.bailiff.tables.features[feature]
}

findings contains found("hidden", "") if {
	text_is_due
	not understood
}

# A finding of the class: its rule and its sentence are in the table.
found(class, match) := {
	"rule": data.bailiff.tables.classes[class].rule,
	"message": data.bailiff.tables.classes[class].message,
	"match": match,
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
findings contains found("processes", concat(" ", call.argv)) if {
	programs.kill
	some call in calls
	call.program == "kill"
	some target in call.operands
	not own_job(target)
	not call.argv[1] in {"-0", "-l", "-L"}
}

own_job("$!")

own_job(target) if startswith(target, "%")

# A process number of -1 means all of them; as the first argument it is a signal.
findings contains found("everything", concat(" ", call.argv)) if {
	programs.kill
	some call in calls
	call.program == "kill"
	some position, "-1" in call.argv
	position > 1
}

findings contains found("everything", concat(" ", call.argv)) if {
	some call in calls
	call.program in {"pkill", "killall"}
	some pattern in call.operands
	pattern in {"", ".", ".*", "*", "^"}
}

findings contains found("preload", name) if {
	some call in calls
	some name in call.assigns
	data.bailiff.tables.preloads[name]
}

findings contains found("preload", name) if {
	some call in calls
	call.program in {"export", "declare", "typeset"}
	some word in call.operands
	name := split(word, "=")[0]
	data.bailiff.tables.preloads[name]
}

findings contains found("packages", concat(" ", call.argv)) if {
	some call in calls
	call.program in {"npm", "pnpm", "yarn", "bun"}
	words := {word | some word in call.argv}
	count(words & {"uninstall", "remove", "rm", "un", "unlink", "r"}) > 0
	count(words & {"-g", "--global", "global", "--location=global"}) > 0
}

findings contains found("packages", concat(" ", call.argv)) if {
	some call in calls
	startswith(call.program, "python")
	{"-m", "pip", "uninstall"} - {word | some word in call.argv} == set()
}

findings contains found("own_settings", concat(" ", call.argv)) if {
	programs.bailiff
	some call in calls
	call.program == "bailiff"
	not looking(call)
}

looking(call) if data.bailiff.tables.bailiff_looks[call.operands[0]]

looking(call) if data.bailiff.tables.bailiff_looks[concat(" ", array.slice(call.operands, 0, 2))]

# Sockets of engines, and bailiff's own, are doors even for a harmless client.
findings contains found(class, word) if {
	contains(command.text, ".sock")
	some call in calls
	data.bailiff.tables.connects[call.program]
	some word in call.argv
	some name, class in data.bailiff.tables.sockets
	contains(word, name)
}
