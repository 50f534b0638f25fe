package bailiff

# METADATA
# title: Which rules look at a request
# description: |
#   Rules that are about one aspect stand in _examined.ASPECT and cost nothing where it
#   is absent. The aspects are paths, calls, hosts, settings, losses, mounts, environment (a program that
#   shows it), tracing, program (of execute_code, or in a shell text), and the kinds of the programs called.
findings contains finding if {
	some aspect in _aspects
	some finding in _examined[aspect]
}

# What is found in the text by what is known of it as a whole, such as its features, stands in _found_in_text.
findings contains finding if some finding in _found_in_text

# What is found by the session and the names of hosts alone is the same for many texts.
findings contains finding if some finding in _found_in_session

_aspects contains aspect if some aspect in _aspects_of_programs

_aspects contains aspect if some aspect in _aspects_of_more

_aspects contains "paths" if not _names_no_path

_aspects contains "losses" if _loses != set()

_aspects contains "calls" if _calls[0]

# Many texts have the same programs, others the same hosts, settings and variables: each of the two is remembered by itself.
_aspects_of_programs contains kind if some kind in _kinds

_aspects_of_programs contains "environment" if _dumpers_called != set()

_aspects_of_programs contains "speaking" if _unknown_programs != set()

_aspects_of_programs contains "speaking" if count(_programs_of.interprets) > 0

_aspects_of_programs contains "sights" if _command.unknown

_aspects_of_programs contains "sights" if _command.unsought

_aspects_of_programs contains "sights" if _command.kinds

_aspects_of_programs contains "supplied" if {
	some program in _command.programs
	_has_trait(program, "supplies")
}

_aspects_of_more contains "hosts" if count(_hosts) > 0

_aspects_of_more contains "settings" if count(_settings) > 0

_aspects_of_more contains "mounts" if _platform.mounts

_aspects_of_more contains "secrets" if _secret_variables != set()

_aspects_of_more contains "tracing" if "PS4" in _command.assigns

_aspects_of_more contains "program" if is_boolean(_code.parsed)

_names_no_path if {
	_reads == set()
	_writes == set()
	_touches == set()
}

_kinds contains kind if some kind, _ in _programs_of

_programs_of[kind] contains program if {
	some program in _command.programs
	some kind in _kinds_of(program)
}

# The calls by the kinds of their programs, which the table of programs names.
_calls_of[kind] := group if {
	some kind, programs in _programs_of
	group := [call |
		some call in _calls
		call.program in programs
	]
}
