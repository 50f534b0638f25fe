package bailiff

# METADATA
# title: What a script of execute_code may call back
# description: |
#   The table of callable tools says it by name: allow, ask or deny. A tool that it does
#   not name is denied. A script is offered the tools that are not denied. Each call is
#   a request of its own: one of terminal with the command that it runs, judged as any
#   command is; one of a tool of the agent's own with its arguments, judged here.
_tools := sort(_offered_tools) if input.tool == "execute_code"

_tools := [] if input.tool != "execute_code"

# Commands are asked about by what they do, so that there is nothing to ask of all.
_offered_tools contains "terminal" if data.bailiff.tables.callable_tools.terminal == "allow"

_offered_tools contains name if some name in _own_tools

_own_tools := {name |
	some name, word in data.bailiff.tables.callable_tools
	word in {"allow", "ask"}
	name != "terminal"
}

deny contains {
	"rule": "tool.not_callable",
	"message": "Scripts may not call this tool.",
	"match": input.args.name,
} if {
	input.tool == "call"
	not _called in _own_tools
}

default _called := ""

_called := input.args.name if input.tool == "call"

require_approval contains {
	"rule": "tool.called",
	"message": "A script calls a tool of the agent.",
	"match": input.args.name,
} if {
	input.tool == "call"
	data.bailiff.tables.callable_tools[input.args.name] == "ask"
}
