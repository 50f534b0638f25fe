package bailiff

// The rules of denials in which the policies have no say.
const (
	// RuleGuard begins the rule of a guard, whose name follows.
	RuleGuard = "guard."
	// RuleFrozen is a freeze's.
	RuleFrozen = "floor.frozen"
	// RuleProcess is of input to a process that lives elsewhere than was judged.
	RuleProcess = "floor.process"
	// RuleVoid is of a request that is no longer what was approved.
	RuleVoid = "approval.void"
	// RuleBreakGlass is of what not even break-glass lets run.
	RuleBreakGlass = "break_glass.no_terms"
	// RuleUnwritable is of a decision that could not be written to the decision log.
	RuleUnwritable = "log.unwritable"
)
