# Where an auditor asks afterwards: what is not on a list does not run, whatever writes
# is read by two people first, and nothing outlives half an hour.

package bailiff

regulated := data.bailiff.tables.house.regulated

# The texts of the request: its shell text and its program. A program may hand a shell
# text on.
regulated_texts contains input.command

regulated_texts contains input.code

regulated_texts contains input.code.command

deny contains {"rule": "regulated.program", "message": "This program is on no list.", "match": program} if {
	regulated
	some text in regulated_texts
	some program in text.programs
	not regulated.programs[program]
}

deny contains {"rule": "regulated.import", "message": "This module is on no list.", "match": module} if {
	regulated
	some module in input.code.imports
	not regulated.imports[module]
}

deny contains {"rule": "regulated.hides_meaning", "message": "Its text does not tell all that would run."} if {
	regulated
	not plain_text
}

plain_text if {
	input.tool in {"terminal", "execute_code"}
	count(regulated_texts) > 0
	every text in regulated_texts {
		text.parsed
		text.complete
	}
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

require_approval contains read_by_two("It changes files.", concat(" ", sort(written))) if {
	regulated
	count(written) > 0
}

require_approval contains read_by_two("It is a program.", "") if {
	regulated
	input.tool == "execute_code"
}

written := {path | some text in regulated_texts; some path in text.writes}

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
