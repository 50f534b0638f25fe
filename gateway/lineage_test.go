package gateway

import (
	"strings"
	"testing"
)

// Each case is a row of requests of one session, by the members of their agent; all but the last are taken.
func TestNoAgentComesNearerToThePersonThanItWas(t *testing.T) {
	for name, c := range map[string]struct {
		asked []string
		says  string // of the last, empty if it is taken
	}{
		"the session's own between its agents": {[]string{`"id": "a", "depth": 1`, ``, `"id": "a", "depth": 1`}, ""},
		"two agents":                           {[]string{`"id": "a", "depth": 1`, `"id": "b", "depth": 1`}, ""},
		"a child of a child":                   {[]string{`"id": "a", "depth": 1`, `"id": "b", "parent": "a", "depth": 2`}, ""},
		"a child of one that never asked":      {[]string{`"id": "b", "parent": "a", "depth": 2`}, ""},
		"one that turns out to be deeper":      {[]string{`"id": "a", "depth": 1`, `"id": "a", "parent": "b", "depth": 3`}, ""},

		"a child that claims to be the session's": {[]string{`"id": "b", "parent": "a", "depth": 2`, `"id": "b", "depth": 1`},
			"came from 2 before"},
		"a child that claims to be its parent's sister": {[]string{`"id": "a", "depth": 1`, `"id": "b", "parent": "a", "depth": 1`},
			"belongs to a depth of 2"},
		"a child as deep as its parent": {[]string{`"id": "a", "parent": "x", "depth": 2`, `"id": "b", "parent": "a", "depth": 2`},
			`is at 2`},
		"a child that changes its parent": {[]string{`"id": "b", "parent": "a", "depth": 2`, `"id": "b", "parent": "c", "depth": 2`},
			"named another before"},
		"parents in a ring": {[]string{`"id": "a", "parent": "b", "depth": 2`, `"id": "b", "parent": "a", "depth": 2`},
			"want more than that"},
		"parents in a ring that goes deeper": {[]string{`"id": "a", "parent": "b", "depth": 2`, `"id": "b", "parent": "a", "depth": 3`,
			`"id": "a", "parent": "b", "depth": 3`}, "want more than that"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(&enforcer{}))))
			for n, members := range c.asked {
				body := telegramRequest
				if members != "" {
					body = ofAgent(members)
				}
				answer := to.post("/v1/decide", body)
				isRefused := n == len(c.asked)-1 && c.says != ""
				if isRefused != (answer.status == 400) || isRefused && !strings.Contains(string(answer.body), c.says) {
					t.Fatalf("%s: %d %s", members, answer.status, answer.body)
				}
			}
		})
	}
}
