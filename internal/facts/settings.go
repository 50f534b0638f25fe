package facts

const (
	// maxSettings is how many settings of one text are told, maxSetting how long one may be.
	maxSettings = 256
	maxSetting  = 1 << 10
)

// setting notes the value that a variable is given.
func (a *analysis) setting(name, value string) {
	if len(a.settings) >= maxSettings {
		if a.settings = sorted(a.settings); len(a.settings) >= maxSettings {
			a.hide()
			return
		}
	}
	a.settings = append(a.settings, cut(name+"="+value, maxSetting))
}
