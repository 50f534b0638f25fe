# What is judged.
#
# The shell text of a request, wherever it stands: a terminal's command, the data
# written to a process, or what a program gives to a shell.

package bailiff

command := input.command if input.tool == "terminal"

command := input.command if input.tool == "process"

command := input.code.command if input.tool == "execute_code"

default calls := []

calls := command.calls

programs := {program | some program in command.programs}

features := {feature | some feature in command.features}
