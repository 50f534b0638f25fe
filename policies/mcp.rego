package bailiff

# METADATA
# title: Tools of other MCP servers
# description: |
#   The table of tools says it by server and tool: allow, ask or deny. What it does not
#   name is denied. Any rule may look at the arguments besides, at input.args.arguments.
deny contains {
	"rule": "mcp.not_listed",
	"message": sprintf("The table mcp_tools names no tool %q of the server %q.", [input.args.name, input.args.server]),
	"match": input.args.name,
} if {
	input.tool == "mcp"
	not _mcp_word
}

deny contains {
	"rule": "mcp.denied",
	"message": "The table mcp_tools denies this tool.",
	"match": input.args.name,
} if {
	_mcp_word
	not _mcp_word in {"allow", "ask"}
}

_mcp_word := data.bailiff.tables.mcp_tools[input.args.server][input.args.name] if input.tool == "mcp"

require_approval contains {
	"rule": "mcp.called",
	"message": sprintf("A tool of the MCP server %q is called.", [input.args.server]),
	"match": input.args.name,
} if {
	_mcp_word == "ask"
}

# METADATA
# title: What clients are told that an MCP server has
# description: |
#   The tools of input.args.server that the table does not deny, for the sidecar to list.
mcp_offered contains name if {
	input.tool == "mcp"
	some name, word in data.bailiff.tables.mcp_tools[input.args.server]
	word in {"allow", "ask"}
}
