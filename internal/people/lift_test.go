package people

import (
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/config"
)

func TestLiftingIsForPeopleWhomNoAgentCouldPassFor(t *testing.T) {
	for name, c := range map[string]struct {
		uid      uint32
		agents   []uint32
		sameUser bool
		may      bool
	}{
		"ana, with agents of their own user":   {1000, []uint32{1001}, false, true},
		"somebody who is nobody in people":     {0, []uint32{1001}, false, false},
		"somebody who is no operator":          {1002, []uint32{1001}, false, false},
		"ana, with an agent of her user":       {1000, []uint32{1000}, false, false},
		"ana, with an agent that is root":      {1000, []uint32{0}, false, false},
		"ana, with an agent of any user":       {1000, nil, false, false},
		"anybody on a machine with one person": {0, nil, true, true},
		"but there too not who is no operator": {1002, nil, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := New(&config.Config{
				People:   []config.Person{{Name: "ana", UIDs: []uint32{1000}}, {Name: "ben", UIDs: []uint32{1002}}},
				Operator: config.Operator{UIDs: []uint32{0, 1000}, AllowSameUser: c.sameUser},
				Agent: config.Agent{Listeners: []config.Listener{{Name: "hermes", UIDs: c.agents,
					Listen: config.Address{Network: "unix", Address: "/run/a.sock"}}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.MayLift(r.Identify(c.uid, bailiff.ChannelOperator)); (err == nil) != c.may {
				t.Errorf("got %v, want it allowed: %t", err, c.may)
			}
		})
	}
}
