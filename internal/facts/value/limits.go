package value

// What one text of any language may cost. A text that runs into a limit is not
// complete.
const (
	MaxText  = 1 << 20
	MaxCalls = 4096
	MaxValue = 64 << 10
	// MaxSetting is how long a setting of a Python program may be.
	MaxSetting = 1 << 10
	// MaxLevel is how deep programs may lie in shell texts in programs.
	MaxLevel = 6
)
