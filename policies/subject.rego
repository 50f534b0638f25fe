package bailiff

# METADATA
# title: What is judged
# description: |
#   The shell text of a request wherever it stands (a terminal's command, the data
#   written to a process, the shell text of a program), and the program itself.
_command := input.command if input.tool == "terminal"

_command := input.command if input.tool == "process"

_command := input.code.command if input.tool == "execute_code"

_code := input.code if input.tool == "execute_code"

_code := input.command.code if input.tool != "execute_code"

default _calls := []

_calls := _command.calls

# The calls by their programs: rules that a table speeds up look at no other call.
_calls_by := {program: group |
	some program in _command.programs
	group := [call | some call in _calls; call.program == program]
}

_piped := [call | some call in _calls; call.pipes_to != ""]

# Whether there is a text whose meaning must be known.
_text_is_due if input.tool == "terminal"

_text_is_due if input.args.action in {"write", "submit"}

_text_is_due if is_boolean(_command.parsed)

_understood if {
	_command.parsed
	_command.complete
}

# METADATA
# title: What a request uses
# description: |
#   Sets of what the command and the program name together.
_reads contains path if some path in _command.reads

_reads contains path if some path in _code.reads

_writes contains path if some path in _command.writes

_writes contains path if some path in _code.writes

# What a program gives to calls that nothing describes.
_touches contains path if some path in _code.touches

_hosts contains host if some host in _command.hosts

_hosts contains host if some host in _code.hosts

_settings contains setting if some setting in _command.settings

_settings contains setting if some setting in _code.settings

# Files and folders whose content is gone afterwards.
_loses contains path if some path in _command.loses

_loses contains path if some path in _code.loses

_features contains feature if some feature in _command.features

_features contains feature if some feature in _code.features
