package bailiff

import "fmt"

// Outcome is the verdict of a decision. Its zero value is [Deny].
type Outcome uint8

// The outcomes, from the strictest.
const (
	Deny Outcome = iota
	Ask
	Allow
)

var outcomeNames = [...]string{Deny: "deny", Ask: "ask", Allow: "allow"}

// String returns the outcome's name in the decision document.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return outcomeNames[Deny]
}

// MarshalText writes the outcome's name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText accepts the three names and nothing else.
func (o *Outcome) UnmarshalText(text []byte) error {
	for i, name := range outcomeNames {
		if name == string(text) {
			*o = Outcome(i)
			return nil
		}
	}
	*o = Deny
	return fmt.Errorf("outcome is %q, want allow, ask or deny", text)
}
