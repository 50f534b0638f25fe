package bailiff

# METADATA
# title: Which rules look at a request
# description: |
#   Rules that are about one aspect stand in _examined.ASPECT and cost nothing where it
#   is absent. The aspects are paths, hosts, settings, losses, mounts, program (of execute_code,
#   or in a shell text), and the kinds of the programs called.
findings contains finding if {
	some aspect in _aspects
	some finding in _examined[aspect]
}

_aspects contains kind if some kind, _ in _calls_of

_aspects contains "paths" if count(_reads | _writes) > 0

_aspects contains "hosts" if count(_hosts) > 0

_aspects contains "settings" if count(_settings) > 0

_aspects contains "losses" if count(_loses) > 0

_aspects contains "mounts" if _platform.mounts

_aspects contains "program" if _code

# The calls by the kinds of their programs, which the table of programs names.
_calls_of := {kind: group |
	some kind in {kind | some program in _command.programs; some kind in data.bailiff.tables.programs[program]}
	group := [call |
		some call in _calls
		kind in data.bailiff.tables.programs[call.program]
	]
}
