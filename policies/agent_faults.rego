package agent.call

# METADATA
# title: Why a call is no request
# description: |
#   A call that the table agent_tools does not describe to the last field is refused,
#   with the reason.
_faults contains "the input names no tool (tool.name)" if not _names_tool

_names_tool if is_string(input.tool.name)

_faults contains sprintf("the tool %q is not in the table agent_tools", [input.tool.name]) if {
	_names_tool
	not _kind
}

_faults contains "the arguments of the tool are no object (args)" if not _has_arguments

_has_arguments if is_object(input.args)

# A field that no table describes might change what the tool does.
_faults contains sprintf("the table agent_tools does not say what %q is to the tool %q", [field, input.tool.name]) if {
	_kind
	some field, _ in input.args
	not field in _known_fields
}

_known_fields := {field | some field in _kind.fields} | {field | some field in _kind.ignored}

_faults contains "the input does not say for which session (runtimeContext.bailiff.session)" if not _has_session

_has_session if is_object(input.runtimeContext.bailiff.session)

_faults contains sprintf("nothing is named %q in runtimeContext.bailiff, want session or env", [name]) if {
	some name, _ in input.runtimeContext.bailiff
	not name in {"session", "env"}
}
