# METADATA
# title: Tool calls of agents that were built with a kit
# description: |
#   Kits such as Vercel's AI SDK send a tool call in words of their own and want one of
#   three words back: allow, deny, requires-approval.
#
#   The rule asked reads such a call as a request of bailiff's own, or says why it is
#   none. bailiff computes what the text of that request does and judges it like any
#   other. The table agent_tools says what a tool is. A tool or a field that it does not
#   name is denied.
#
#   The rule decision puts data.bailiff.decision into the words of a kit, for a client
#   of stock OPA.
# schemas:
# - input: {}
package agent.call

# METADATA
# title: The answer to a kit
# description: |
#   Words what data.bailiff.decision says of an input document of bailiff's, for a
#   client of stock OPA. It is never undefined and has no fourth word: to a kit, no
#   opinion means that the tool may run.
# entrypoint: true
default decision := {
	"decision": "deny",
	"reason": "This is no input document of bailiff's. Instead: Ask bailiff, which knows what a text does.",
}

decision := _in_words(_judged)

_judged := data.bailiff.decision if {
	input.tool in {"terminal", "execute_code", "process"}
	is_string(input.session.platform)
	is_boolean(_facts.complete)
}

_facts := input.code if input.tool == "execute_code"

_facts := input.command if input.tool != "execute_code"

_in_words(judged) := {"decision": "deny", "reason": _sentences(judged.denials)} if judged.outcome == "deny"

_in_words(judged) := {"decision": "requires-approval", "reason": _sentences(judged.approval.reasons)} if {
	judged.outcome == "ask"
	not _elsewhere(judged)
}

_in_words(judged) := {"decision": "allow"} if {
	judged.outcome == "allow"
	not _elsewhere(judged)
}

_in_words(judged) := {"decision": "deny", "reason": _elsewhere(judged)} if judged.outcome in {"allow", "ask"}

# The client that asks here runs the tool itself. So what is allowed in another place than
# the one that was named is not allowed.
_elsewhere(judged) := sprintf(
	"It would run on %s, and the policies let it run on %s only (backend.elsewhere). Instead: Have the tool hand it to bailiff.",
	[input.backend.requested, place],
) if {
	place := object.get(judged, ["backend", "name"], "")
	input.backend.requested != ""
	input.backend.requested != place
}
