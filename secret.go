package bailiff

import "fmt"

// Secret is the value of a variable. However it is printed, logged or encoded,
// it reads "[secret]".
type Secret struct{ value string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal returns the value, for the one function that hands it to a runner or
// looks for it in output.
func (s Secret) Reveal() string { return s.value }

// Format prints "[secret]" for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[secret]")) }

// MarshalText writes "[secret]".
func (Secret) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }
