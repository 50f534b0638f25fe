package bailiff

// Swap says that a variable enters as a stand-in, and where its value is put in on the way
// out of the sandbox.
type Swap struct {
	// Name is the variable's.
	Name string `json:"name"`
	// Hosts are the exact hosts whose requests get the value, In the places that it may stand
	// in: a header in small letters, alone or as "header:NAME", "query:NAME", or "path".
	Hosts []string `json:"hosts"`
	In    []string `json:"in"`
	// StrayPasses lets the stand-in leave elsewhere, where it is worth nothing.
	StrayPasses bool `json:"stray_passes,omitempty"`
	// NotAlone lets other requests of the session be in the sandbox meanwhile.
	NotAlone bool `json:"not_alone,omitempty"`
}

// Swapped is a variable of one request that its sandbox has a stand-in for.
type Swapped struct {
	Swap
	StandIn string
	Value   Secret
}
