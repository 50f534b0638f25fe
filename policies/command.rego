# What a shell text does.
#
# Findings that follow from the programs called. The table of programs gives each
# program its classes, the table of classes gives each class its rule.

package bailiff

findings contains {"rule": class.rule, "message": class.message, "match": call.program} if {
	some call in calls
	some name in data.bailiff.tables.programs[call.program]
	class := data.bailiff.tables.classes[name]
}

findings contains {
	"rule": "command.destroys_system",
	"message": "It starts processes without end.",
	"match": "fork bomb",
} if {
	features.fork_bomb
}

findings contains {
	"rule": "command.destroys_system",
	"message": "It deletes the system or a home folder.",
	"match": path,
} if {
	programs.rm
	some call in calls
	call.program == "rm"
	"-r" in call.flags
	some path in call.writes
	data.bailiff.tables.paths.roots[path]
}

findings contains {
	"rule": "command.deletes_recursively",
	"message": "It deletes folders with all that is in them.",
	"match": path,
} if {
	programs.rm
	some call in calls
	call.program == "rm"
	"-r" in call.flags
	some path in call.operands
}

findings contains {
	"rule": "command.hides_meaning",
	"message": "Its text hides what will run.",
	"match": "",
} if {
	not readable
}
