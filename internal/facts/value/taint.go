package value

import "cmp"

// Taint is where a text came from: the network, a decoder, a file, the whole
// environment.
type Taint struct {
	Fetched, Decoded, Read, Environ bool
	// Machine says that it describes the machine or its user.
	Machine bool
	// Library is the library of Python that made it.
	Library string
}

// With is the taint of what is made of two texts.
func (t Taint) With(o Taint) Taint {
	return Taint{t.Fetched || o.Fetched, t.Decoded || o.Decoded, t.Read || o.Read, t.Environ || o.Environ, t.Machine || o.Machine,
		cmp.Or(t.Library, o.Library)}
}
