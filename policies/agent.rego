# METADATA
# title: Tool calls of agents that were built with a kit
# description: |
#   Kits such as Vercel's AI SDK send a tool call in words of their own and want
#   one of three words back: allow, deny, requires-approval.
#
#   asked reads such a call: as a request of bailiff's own, or as the reasons why it
#   is none. bailiff computes what the text of that request does and judges it like
#   any other. The table agent_tools says what a tool is; one that it does not name
#   is denied, and so is a field that it does not name.
#
#   decision words what data.bailiff.decision says of an input document of bailiff's,
#   for whoever asks stock OPA. It is never undefined and has no fourth word: to a
#   kit, no opinion means that the tool may run.
# schemas:
# - input: {}
package agent.call

# METADATA
# entrypoint: true
default decision := {
	"decision": "deny",
	"reason": "This is no input document of bailiff's. Instead: Ask bailiff, which knows what a text does.",
}

decision := {"decision": "deny", "reason": sentences(judged.denials)} if judged.outcome == "deny"

decision := {"decision": "requires-approval", "reason": sentences(judged.approval.reasons)} if {
	judged.outcome == "ask"
	not elsewhere
}

decision := {"decision": "allow"} if {
	judged.outcome == "allow"
	not elsewhere
}

decision := {"decision": "deny", "reason": elsewhere} if {
	judged.outcome in {"allow", "ask"}
	elsewhere
}

judged := data.bailiff.decision if {
	input.tool in {"terminal", "execute_code", "process"}
	is_string(input.session.platform)
	is_boolean(facts.complete)
}

facts := input.code if input.tool == "execute_code"

facts := input.command if input.tool != "execute_code"

# Whoever asks here runs the tool itself. So what is allowed in another place than
# the one that was named is not allowed.
elsewhere := sprintf(
	"It would run on %s, and the policies let it run on %s only (backend.elsewhere). Instead: Have the tool hand it to bailiff.",
	[input.backend.requested, place],
) if {
	input.backend.requested != ""
	input.backend.requested != place
}

place := object.get(judged, ["backend", "name"], "")

# What was found, by which rules, and what would be allowed instead, each once.
sentences(reasons) := concat(" ", array.concat(sort({sentence(reason) | some reason in reasons}), offers(reasons)))

sentence(reason) := "The policies do not say why." if reason.hidden

sentence(reason) := sprintf("%s (%s).", [trim_suffix(reason.message, "."), reason.rule]) if not reason.hidden

offers(reasons) := array.concat(["Instead:"], sort(offered)) if {
	offered := {reason.instead | some reason in reasons; reason.instead != ""; not reason.hidden}
	count(offered) > 0
} else := []

# METADATA
# description: |
#   {"request": …} or {"faults": […]}, for the input {"tool": {"name"}, "args",
#   "runtimeContext": {"bailiff": {"session", "env"}}}. What else a kit sends, such as
#   its messages, decides nothing.
# entrypoint: true
default asked := {"faults": ["this is no tool call"]}

asked := {"request": request} if count(faults) == 0

asked := {"faults": sort(faults)} if count(faults) > 0

request := {
	"tool": kind.tool,
	"args": {name: input.args[field] | some name, field in kind.fields},
	"session": input.runtimeContext.bailiff.session,
	"env": env,
	"backend": backend,
}

kind := data.bailiff.tables.agent_tools[input.tool.name]

default env := []

env := input.runtimeContext.bailiff.env

# A tool runs where its agent does, unless it hands its text to bailiff.
default backend := "local"

backend := "" if kind.through_bailiff

faults contains "the input names no tool (tool.name)" if not names_tool

names_tool if is_string(input.tool.name)

faults contains sprintf("the tool %q is not in the table agent_tools", [input.tool.name]) if {
	names_tool
	not kind
}

faults contains "the arguments of the tool are no object (args)" if not has_arguments

has_arguments if is_object(input.args)

# A field that nobody looks at might change what the tool does.
faults contains sprintf("the table agent_tools does not say what %q is to the tool %q", [field, input.tool.name]) if {
	kind
	some field, _ in input.args
	not field in known_fields
}

known_fields := {field | some field in kind.fields} | {field | some field in kind.ignored}

faults contains "the input does not say for which session (runtimeContext.bailiff.session)" if not has_session

has_session if is_object(input.runtimeContext.bailiff.session)

faults contains sprintf("nothing is named %q in runtimeContext.bailiff, want session or env", [name]) if {
	some name, _ in input.runtimeContext.bailiff
	not name in {"session", "env"}
}
