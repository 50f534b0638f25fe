package pdp

import (
	"context"

	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// Check lists what is wrong with the policies that a config names. It runs no tests.
func Check(c Config) source.Faults {
	_, faults := OpenChecked(c)
	return faults
}

// OpenChecked opens the policies that a config names as soon as nothing is wrong with them, as [Check] says. The embedded ones are
// not checked again.
func OpenChecked(c Config) (*PDP, source.Faults) {
	p := prepared(c)
	if p.isOwn() {
		s, faults := released(c.Explained)(context.Background())
		if len(faults) > 0 {
			return nil, faults
		}
		p.inForce.Store(s)
		return p, nil
	}
	next, faults := p.read()
	if len(faults) > 0 {
		return nil, faults
	}
	s, faults := newSnapshot(context.Background(), next, c.Explained, checksOf(next))
	if len(faults) == 0 && s.connection == nil {
		faults = next.UnjudgedWays()
	}
	if len(faults) == 0 && c.People.Accounts != nil {
		faults = next.StrangersInRoles(c.People)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	p.inForce.Store(s)
	return p, nil
}
