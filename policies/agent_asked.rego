package agent.call

# METADATA
# title: The call of a kit as a request
# description: |
#   {"request": …} or {"faults": […]}, for the input {"tool": {"name"}, "args",
#   "runtimeContext": {"bailiff": {"session", "env"}}}. What else a kit sends, such as
#   its messages, decides nothing.
# entrypoint: true
default asked := {"faults": ["this is no tool call"]}

asked := {"request": _request} if count(_faults) == 0

asked := {"faults": sort(_faults)} if count(_faults) > 0

_request := {
	"tool": _kind.tool,
	"args": {name: input.args[field] | some name, field in _kind.fields},
	"session": input.runtimeContext.bailiff.session,
	"env": _env,
	"backend": _backend,
}

_kind := data.bailiff.tables.agent_tools[input.tool.name]

default _env := []

_env := input.runtimeContext.bailiff.env

# A tool runs where its agent does, unless it hands its text to bailiff.
default _backend := "local"

_backend := "" if _kind.through_bailiff
