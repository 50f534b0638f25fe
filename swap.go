package bailiff

// Swap says that a variable enters as a stand-in, and where its value is put in on the way
// out of the sandbox.
type Swap struct {
	// Name is the variable's.
	Name string `json:"name"`
	// Hosts are the exact hosts whose requests get the value, In the headers that it may
	// stand in, in small letters.
	Hosts []string `json:"hosts"`
	In    []string `json:"in"`
}

// Swapped is a variable of one request that its sandbox has a stand-in for.
type Swapped struct {
	Swap
	StandIn string
	Value   Secret
}
