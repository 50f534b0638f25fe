# A bot for a family: the family may ask, children for little, and nothing opens the
# house without a yes.

package bailiff

family := data.bailiff.tables.house.family

# The shell text of the request, wherever it stands.
home_text := input.code.command if input.tool == "execute_code"

home_text := input.command if input.tool != "execute_code"

relative := family[input.session.platform][input.session.user_id]

deny contains {"rule": "home.stranger", "message": "Only the family may ask for this."} if {
	family
	input.session.platform != "cli"
	not relative
}

deny contains {"rule": "home.child", "message": "Ask a parent to do this for you.", "match": program} if {
	relative == "child"
	some program in home_text.programs
	not data.bailiff.tables.house.child_programs[program]
}

deny contains {"rule": "home.child", "message": "Ask a parent to do this for you."} if {
	relative == "child"
	not plainly_said
}

plainly_said if {
	input.tool == "terminal"
	home_text.parsed
	home_text.complete
}

require_approval contains {
	"rule": "home.opens",
	"message": "It opens the house.",
	"match": concat(" ", call.argv),
	"scopes": ["once"],
	"timeout_seconds": 120,
} if {
	some call in home_text.calls
	call.program == "hass-cli"
	some word in call.operands
	data.bailiff.tables.house.opens[word]
}

# Guests read along in groups.
withhold_env contains {"name": name, "rule": "home.group"} if {
	family
	input.session.chat_type != "dm"
	some name in input.env.requested
	endswith(name, "_TOKEN")
}
