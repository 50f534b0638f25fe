# A company's Slack: each channel deploys what is its own, production takes two, and
# where guests read along nothing enters and everything is asked.

package bailiff

company := data.bailiff.tables.house.company

# The calls of deploy, wherever the request has its shell text.
deployments contains call if {
	some call in input.command.calls
	call.program == "deploy"
}

deployments contains call if {
	some call in input.code.command.calls
	call.program == "deploy"
}

deny contains {
	"rule": "company.platform",
	"message": "The bot answers in the company's Slack only.",
	"match": input.session.platform,
} if {
	company
	not company.platforms[input.session.platform]
}

deny contains {
	"rule": "company.deploys_elsewhere",
	"message": "This channel does not deploy that.",
	"match": concat(" ", call.argv),
} if {
	company
	some call in deployments
	not deployed_here(call)
}

deployed_here(call) if call.operands[0] in company.deploys[input.session.chat_id]

require_approval contains {
	"rule": "company.production",
	"message": "It changes production.",
	"match": concat(" ", call.argv),
	"scopes": ["once"],
	"quorum": 2,
} if {
	company
	some call in deployments
	"production" in call.operands
}

require_approval contains {"rule": "company.guests", "message": "People of other companies see this channel."} if {
	company.shared[input.session.chat_id]
}

withhold_env contains {"name": name, "rule": "company.guests"} if {
	company.shared[input.session.chat_id]
	some name in input.env.requested
}
