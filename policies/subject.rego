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

# What there is to look at. Rules that are about one aspect stand in examined.ASPECT
# and cost nothing where it is absent: paths, hosts, settings, losses, program (one of
# execute_code), and the kinds of the programs called.
findings contains finding if {
	some aspect in aspects
	some finding in examined[aspect]
}

aspects contains kind if some kind, _ in calls_of

aspects contains "paths" if count(reads | writes) > 0

aspects contains "hosts" if count(hosts) > 0

aspects contains "settings" if count(settings) > 0

aspects contains "losses" if count(loses) > 0

aspects contains "program" if input.tool == "execute_code"

# The calls by the kinds of their programs, which the table of programs names.
calls_of := {kind: group |
	some program, _ in calls_by
	some kind in data.bailiff.tables.programs[program]
	group := [call |
		some other, made in calls_by
		kind in data.bailiff.tables.programs[other]
		some call in made
	]
}

reads := {path | some path in command.reads} | {path | some path in code.reads}

writes := {path | some path in command.writes} | {path | some path in code.writes}

hosts := {host | some host in command.hosts} | {host | some host in code.hosts}

settings := {setting | some setting in command.settings} | {setting | some setting in code.settings}

# Files and folders whose content is gone afterwards.
loses := {path | some path in command.loses} | {path | some path in code.loses}

features := {feature | some feature in command.features} | {feature | some feature in code.features}

# Whether there is a text whose meaning must be known.
text_is_due if input.tool == "terminal"

text_is_due if input.args.action in {"write", "submit"}

text_is_due if command

understood if {
	command.parsed
	command.complete
}
