# What is judged.
#
# The shell text of a request wherever it stands (a terminal's command, the data
# written to a process, what a program hands to a shell), and with it what the
# program itself does.

package bailiff

command := input.command if input.tool == "terminal"

command := input.command if input.tool == "process"

command := input.code.command if input.tool == "execute_code"

code := input.code if input.tool == "execute_code"

default calls := []

calls := command.calls

# The calls by their programs: rules that a table speeds up look at no other call.
calls_by := {program: group |
	some program in command.programs
	group := [call | some call in calls; call.program == program]
}

piped := [call | some call in calls; call.pipes_to != ""]

# The calls by the kinds of their programs, which the table of programs names. Rules
# that are about a kind stand in examined.KIND and cost nothing where it is absent.
calls_of := {kind: group |
	some program, _ in calls_by
	some kind in data.bailiff.tables.programs[program]
	group := [call |
		some other, made in calls_by
		kind in data.bailiff.tables.programs[other]
		some call in made
	]
}

findings contains finding if {
	some kind, _ in calls_of
	some finding in examined[kind]
}

reads := {path | some path in command.reads} | {path | some path in code.reads}

writes := {path | some path in command.writes} | {path | some path in code.writes}

hosts := {host | some host in command.hosts} | {host | some host in code.hosts}

features := {feature | some feature in command.features} | {feature | some feature in code.features}

# Whether there is a text whose meaning must be known.
text_is_due if input.tool == "terminal"

text_is_due if input.args.action in {"write", "submit"}

text_is_due if command

understood if {
	command.parsed
	command.complete
}
