# Where an auditor asks afterwards: what is not on a list does not run, whatever writes
# is read by two people first, and nothing outlives half an hour.

package bailiff

regulated := data.bailiff.tables.house.regulated

deny contains {"rule": "regulated.program", "message": "This program is on no list.", "match": program} if {
	regulated
	some program in command.programs
	not regulated.programs[program]
}

deny contains {"rule": "regulated.import", "message": "This module is on no list.", "match": module} if {
	regulated
	some module in code.imports
	not regulated.imports[module]
}

deny contains {"rule": "regulated.hides_meaning", "message": "Its text does not tell all that would run."} if {
	regulated
	not plain_text
}

plain_text if {
	input.tool == "terminal"
	understood
}

plain_text if {
	input.tool == "execute_code"
	understood_code
	not code.command
}

plain_text if {
	input.tool == "execute_code"
	understood_code
	understood
}

# What the shipped rules find is a reason to refuse, in a sandbox too.
deny contains finding if {
	regulated
	some finding in findings
}

deny contains {"rule": "regulated.background", "message": "Nothing runs unwatched."} if {
	regulated
	input.args.background
}

deny contains {"rule": "regulated.unattended", "message": "Nobody attends the session."} if {
	regulated
	input.session.unattended
}

require_approval contains read_by_two("It changes files.", concat(" ", sort(writes))) if {
	regulated
	count(writes) > 0
}

require_approval contains read_by_two("It is a program.", "") if {
	regulated
	input.tool == "execute_code"
}

read_by_two(message, match) := {
	"rule": "regulated.two_people",
	"message": message,
	"match": match,
	"scopes": ["once"],
	"quorum": 2,
	"timeout_seconds": regulated.answer_within_seconds,
}

withhold_env contains {"name": name, "rule": "regulated.variable"} if {
	regulated
	some name in input.env.requested
	not regulated.variables[name]
}

networks contains {"network": "none"} if regulated

limits contains {"timeout_seconds": 120, "output_bytes": 20000, "idle_seconds": 300, "max_seconds": 1800} if regulated
