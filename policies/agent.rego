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

decision := {"decision": "deny", "reason": _sentences(_judged.denials)} if _judged.outcome == "deny"

decision := {"decision": "requires-approval", "reason": _sentences(_judged.approval.reasons)} if {
	_judged.outcome == "ask"
	not _elsewhere
}

decision := {"decision": "allow"} if {
	_judged.outcome == "allow"
	not _elsewhere
}

decision := {"decision": "deny", "reason": _elsewhere} if {
	_judged.outcome in {"allow", "ask"}
	_elsewhere
}

_judged := data.bailiff.decision if {
	input.tool in {"terminal", "execute_code", "process"}
	is_string(input.session.platform)
	is_boolean(_facts.complete)
}

_facts := input.code if input.tool == "execute_code"

_facts := input.command if input.tool != "execute_code"

# The client that asks here runs the tool itself. So what is allowed in another place than
# the one that was named is not allowed.
_elsewhere := sprintf(
	"It would run on %s, and the policies let it run on %s only (backend.elsewhere). Instead: Have the tool hand it to bailiff.",
	[input.backend.requested, _place],
) if {
	input.backend.requested != ""
	input.backend.requested != _place
}

_place := object.get(_judged, ["backend", "name"], "")
