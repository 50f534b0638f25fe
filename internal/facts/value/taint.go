package value

// Taint is where a text came from: the network, a decoder, a file, the whole
// environment.
type Taint struct{ Fetched, Decoded, Read, Environ bool }

// With is the taint of what is made of two texts.
func (t Taint) With(o Taint) Taint {
	return Taint{t.Fetched || o.Fetched, t.Decoded || o.Decoded, t.Read || o.Read, t.Environ || o.Environ}
}
