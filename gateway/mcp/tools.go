package mcp

import (
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
)

const instructions = `These tools run commands and scripts in a sandbox, as far as the policies of this machine allow. ` +
	`A call that is denied says why; do not try the same in other words. Where a person must approve, the call waits, ` +
	`and says who can answer if nobody has: the same call again goes on once it is approved.`

// tools are those of the agent API, with the arguments that it takes.
func tools() []*sdk.Tool {
	return []*sdk.Tool{
		tool(bailiff.Terminal, "Run a shell command",
			"Runs a shell command in this session's sandbox and gives back its output, stdout and stderr as they were written, and its "+
				"exit code if it is not 0. "+
				"Files and the working folder stay from one call to the next.",
			`"command": {"type": "string", "minLength": 1, "description": "shell text"},
			"workdir": {"type": "string",
				"description": "absolute folder inside the sandbox to run in; without it, where the last command ended"},
			"timeout": {"type": "integer", "minimum": 0, "maximum": 86400,
				"description": "seconds after which the command is killed; without it, as long as the policies allow"},
			"background": {"type": "boolean", "description": "start the command and give back the id of its process at once"},
			"stdin": {"type": "string", "description": "what the command reads as standard input"}`, `"command"`),
		tool(bailiff.ExecuteCode, "Run Python",
			"Runs a Python script in this session's sandbox and gives back what it printed. Variables stay from one call to the next.",
			`"code": {"type": "string", "minLength": 1, "description": "Python"},
			"reset": {"type": "boolean", "description": "forget the variables of earlier calls first"},
			"timeout": {"type": "integer", "minimum": 0, "maximum": 86400,
				"description": "seconds after which the script is killed; without it, as long as the policies allow"}`, `"code"`),
		tool(bailiff.Process, "Look after background processes",
			"Lists, reads, feeds and ends the processes that terminal started in the background.",
			`"action": {"type": "string", "enum": ["list", "poll", "wait", "log", "kill", "write", "submit", "close"],
				"description": "poll gives new output, wait waits for the end, log gives all output, `+
				`write and submit (with a line's end) give input, close ends the input"},
			"process_id": {"type": "string", "description": "of which process; every action but list needs it"},
			"data": {"type": "string", "description": "what to write or submit"},
			"timeout": {"type": "integer", "minimum": 0, "maximum": 86400, "description": "how many seconds to wait"}`, `"action"`),
	}
}

func tool(name bailiff.Tool, title, description, properties, required string) *sdk.Tool {
	return &sdk.Tool{Name: string(name), Title: title, Description: description, Annotations: &sdk.ToolAnnotations{Title: title},
		InputSchema: json.RawMessage(`{"type": "object", "properties": {` + properties + `}, "required": [` + required +
			`], "additionalProperties": false}`)}
}
