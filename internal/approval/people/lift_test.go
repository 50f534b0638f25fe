package people

import (
	"os"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/local"
	"github.com/bailiff-dev/bailiff/internal/config"
)

func TestLiftingIsForPeopleWhomNoAgentCouldPassFor(t *testing.T) {
	t.Parallel()
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
			}, noLogins{})
			must(t, err)
			if stuck := r.Unliftable() != ""; stuck && c.may {
				t.Errorf("somebody may, and yet %s", r.Unliftable())
			}
			if err := r.MayLift(r.Identify(c.uid, bailiff.ChannelOperator)); (err == nil) != c.may {
				t.Errorf("got %v, want it allowed: %t", err, c.may)
			}
		})
	}
}

func TestWhoseCommandsRunOnTheHostAsAnOperatorIsAnsweredByNobody(t *testing.T) {
	t.Parallel()
	self := uint32(os.Geteuid())
	for name, c := range map[string]struct {
		local     bool
		platforms []string
		operators []uint32
		sameUser  bool
		reason    string // part of it; empty if it can be answered
	}{
		"local, for a listener that speaks for cli": {true, []string{"cli"}, []uint32{self}, false,
			"run on the host as an operator's user"},
		"local, for a listener that speaks for all": {true, []string{"*"}, []uint32{self}, false,
			"run on the host as an operator's user"},
		"local, where one person uses the machine":    {true, []string{"cli"}, []uint32{self}, true, ""},
		"local, for a listener that never gets there": {true, []string{"telegram"}, []uint32{self}, false, ""},
		"no local backend":                            {false, []string{"cli"}, []uint32{self}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sections := config.Backends{}
			if c.local {
				sections["local"] = new(local.Config)
			}
			r, err := New(&config.Config{
				People:   []config.Person{{Name: "ana", UIDs: c.operators}},
				Operator: config.Operator{UIDs: c.operators, AllowSameUser: c.sameUser},
				Agent: config.Agent{Listeners: []config.Listener{{Name: "hermes", UIDs: []uint32{64321}, Platforms: c.platforms,
					Listen: config.Address{Network: "unix", Address: "/run/a.sock"}}}},
				Backends: sections,
			}, noLogins{})
			must(t, err)
			_, err = r.Plan(bailiff.Claim{Request: bailiff.Request{Caller: "hermes", Peer: bailiff.Credential(64321),
				Session: bailiff.Session{Platform: "cli", UserID: "7"}}})
			switch {
			case c.reason == "" && err != nil:
				t.Errorf("nobody can answer: %v", err)
			case c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason)):
				t.Errorf("got %v, want it refused: %s", err, c.reason)
			}
			if warned := len(r.Warnings()) > 0; warned != (c.reason != "") {
				t.Errorf("warnings are %v", r.Warnings())
			}
		})
	}
}

func TestWhereNobodyCouldLiftAFreezeTheReasonIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		people   []config.Person
		agents   []uint32
		sameUser bool
		says     string // empty if somebody could
	}{
		"no person in people":         {nil, []uint32{7}, false, "names no person"},
		"a person who is no operator": {[]config.Person{{Name: "ben", UIDs: []uint32{9}}}, []uint32{7}, false, "names no person"},
		"an operator":                 {[]config.Person{{Name: "ana", UIDs: []uint32{1000}}}, []uint32{7}, false, ""},
		"an operator, but the agent too": {[]config.Person{{Name: "ana", UIDs: []uint32{1000}}}, []uint32{1000}, false,
			"could reach the operators' socket"},
		"one person who uses the machine": {nil, []uint32{1000}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := New(&config.Config{People: c.people, Operator: config.Operator{UIDs: []uint32{1000}, AllowSameUser: c.sameUser},
				Agent: config.Agent{Listeners: []config.Listener{{Name: "hermes", UIDs: c.agents,
					Listen: config.Address{Network: "unix", Address: "/run/a.sock"}}}}}, noLogins{})
			must(t, err)
			if why := r.Unliftable(); (why == "") != (c.says == "") || !strings.Contains(why, c.says) {
				t.Errorf("it says %q", why)
			}
		})
	}
}
