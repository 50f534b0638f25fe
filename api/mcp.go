package api

import (
	"encoding/json"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// UsualMCPWait is how long, in seconds, a call by the Model Context Protocol waits for an approval where nothing else is said:
// less than the minute after which many clients give a call up, since then they would not be told whom they wait for.
const UsualMCPWait = 50

// MCPOpening opens a connection to an MCP server by way of the sidecar: it is the body of
// POST /v1/mcp. From then on each line is a message of the protocol.
type MCPOpening struct {
	// Server is the name by which people and policies know it.
	Server string `json:"server"`
	// Command starts the server in a sandbox, or is the URL at which it is reached.
	Command []string `json:"command"`
	// Headers are sent to a server at a URL, each as "NAME: $VARIABLE" or "NAME: SCHEME $VARIABLE".
	Headers []string        `json:"headers,omitempty"`
	Workdir string          `json:"workdir,omitempty"`
	Session bailiff.Session `json:"session"`
	Env     []string        `json:"env,omitempty"`
	Backend string          `json:"backend,omitempty"`
	// WaitSeconds is how long a call waits for an approval; nil where the sidecar is to choose.
	WaitSeconds *int `json:"wait_seconds,omitempty"`
}

// MCPServers are the servers that clients reached.
type MCPServers struct {
	Servers []MCPServer `json:"servers"`
}

// MCPServer is one of them, and whether a person said yes to it.
type MCPServer struct {
	Server string `json:"server"`
	// Trusted says that a person said yes to what was seen last.
	Trusted bool `json:"trusted"`
	// Digest is that of what was seen last, which a yes names.
	Digest  string     `json:"digest"`
	Listing MCPListing `json:"listing"`
	SeenAt  time.Time  `json:"seen_at"`
	// By said yes last, to another listing where Changes are what is different now.
	By      string      `json:"by,omitempty"`
	At      *time.Time  `json:"at,omitempty"`
	Changes []MCPChange `json:"changes"`
}

// MCPListing is what a server is and offers.
type MCPListing struct {
	// Command starts it, or is its URL. Files are those that the command runs, by their content, Headers those
	// that a server at a URL is sent.
	Command []string       `json:"command"`
	Files   []bailiff.File `json:"files"`
	Headers []string       `json:"headers,omitempty"`
	// Workdir, Env and Backend are what its client starts it with: the folder, the names of the variables and the
	// backend that it asks for.
	Workdir string   `json:"workdir,omitempty"`
	Env     []string `json:"env,omitempty"`
	Backend string   `json:"backend,omitempty"`
	// Unpinned says that nothing in the command tells which version of the server it starts.
	Unpinned bool `json:"unpinned"`
	// Name, Title and Version are what it says of itself, Instructions what it tells models.
	Name         string    `json:"name"`
	Title        string    `json:"title,omitempty"`
	Version      string    `json:"version"`
	Instructions string    `json:"instructions"`
	Tools        []MCPTool `json:"tools"`
}

// MCPTool is one of its tools.
type MCPTool struct {
	Name string `json:"name"`
	// Definition is what the server says of it, its name, description and schemas among it.
	Definition json.RawMessage `json:"definition"`
	// Refused says why no client is offered it, whatever people and policies say.
	Refused string `json:"refused,omitempty"`
}

// MCPChange is one thing that is different from what a person said yes to.
type MCPChange struct {
	What   string `json:"what"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// MCPTrusting is a person's yes to what was shown, by its digest.
type MCPTrusting struct {
	Digest string `json:"digest"`
}
