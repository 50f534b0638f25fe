package enforcer

import (
	"maps"
	"strconv"

	"github.com/bailiff-dev/bailiff"
)

// secrets are the values that must not stand in what a request prints: those that it gets,
// and those that commands in its sandbox or workspace got before. The present values of the
// earlier names count too, so that a restart loses a value only if it was replaced.
func (e *Enforcer) secrets(g grant) map[string]bailiff.Secret {
	all, entered := map[string]bailiff.Secret{}, maps.Clone(g.env)
	var names []string
	for _, one := range g.swapped {
		delete(entered, one.Name)
	}
	for name, earlier := range g.held.Give(entered) {
		now, ok := e.config.Environ.Value(name)
		if ok {
			all[name] = now
		}
		names = append(names, name)
		for i, value := range earlier {
			if !ok || value.Reveal() != now.Reveal() {
				all[name+"-earlier"+strconv.Itoa(len(earlier)-i)] = value
			}
		}
	}
	maps.Copy(all, entered)
	for _, one := range g.swapped { // a server may tell the value; what stands for it is no secret
		all[one.Name] = one.Value
	}
	e.config.People.Hide(names, all)
	return all
}
