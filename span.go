package bailiff

// Span is what a trace says of one part of a request's way, such as its decision.
// Empty fields say nothing.
type Span struct {
	Tool       Tool
	Platform   string
	ChatType   string
	Unattended bool
	RequestID  string
	DecisionID string
	Backend    string
	// Outcome is how the part ended, Code what [Answer] says of a fault.
	Outcome string
	Code    string
	// Rules are those that denied or asked.
	Rules []string
	// Text is what was to run. It is shown only where that is configured.
	Text string
	// Failed says that something did not work, which a denial is not.
	Failed bool
}
