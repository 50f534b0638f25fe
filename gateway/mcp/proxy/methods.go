package proxy

import (
	"slices"
	"strings"
)

// versions are those of the protocol that a connection may speak, the newest last.
var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", newest}

const newest = "2025-11-25"

// What passes besides tools, by the method's name in the policies' table mcp_tools: a method
// that it does not name is refused. Its parameters are judged as arguments.
var (
	// fromClient are requests of clients to servers.
	fromClient = []string{"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
		"prompts/list", "prompts/get", "completion/complete", "logging/setLevel"}
	// fromServer are requests of servers to clients, with the capability of a client that says
	// that it takes them.
	fromServer = map[string]string{"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}
	// notices are notifications of servers, with what must be offered for them to pass.
	notices = map[string]string{
		"notifications/resources/list_changed": "resources/", "notifications/resources/updated": "resources/subscribe",
		"notifications/prompts/list_changed": "prompts/", "notifications/message": "logging/setLevel",
	}
	// abilities are capabilities of servers, with what must be offered for a client to hear of them.
	abilities = map[string]string{"resources": "resources/", "prompts": "prompts/", "completions": "completion/complete",
		"logging": "logging/setLevel"}
)

// isMethod says whether a name is that of a method, as which no tool may be called.
func isMethod(name string) bool {
	return slices.Contains(fromClient, name) || fromServer[name] != "" || strings.HasPrefix(name, "notifications/")
}

// hasBeginning says whether one of the names begins so.
func hasBeginning(names []string, beginning string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, beginning) })
}
