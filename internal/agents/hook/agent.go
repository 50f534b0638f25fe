package hook

// Agent is a client of which two tables say all: how it asks, and what its settings say.
type Agent struct {
	Table
	Settings Settings
}

// Settings are the JSON files in which a client's hooks stand: the user's, and root's. Objects are written as JSON.
type Settings struct {
	// Name is its name for people.
	Name string
	// Path is the user's file, below the home; Variable is the one of the environment that names its first folder, if there is one.
	Path, Variable string
	// Roots is root's file, which holds before the user's, and RootsTop what stands there beside the hooks. Managed is root's file in
	// which allowManagedHooksOnly lets no other hooks run. Each is empty where there is none.
	Roots, RootsTop, Managed string
	// Flat says that an entry of an event is itself a hook, whose command line it has under the key Command.
	Flat    bool
	Command string
	// Top stands at the top of each file; Lock stands in the hook before a tool, and has a client block a tool whose hook fails.
	Top, Lock string
	// Writing are the tools after which the hook looks at files again, with | between them; none where the client has no event then.
	Writing string
	// NoSwitch says that the key disableAllHooks means nothing.
	NoSwitch bool
	// Failing says where the client runs a tool whose hook fails, and what closes that.
	Failing string
}
