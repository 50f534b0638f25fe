package enforcer

import (
	"context"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// Who failed because names are not looked up inside connects to nothing, so that nothing is refused.
func TestAProgramThatLooksNamesUpIsToldOfTheProxy(t *testing.T) {
	t.Parallel()
	for output, told := range map[string]bool{
		"socket.gaierror: [Errno -3] Temporary failure in name resolution":    true,
		"curl: (6) Could not resolve host: api.test":                          true,
		"Error: getaddrinfo EAI_AGAIN api.test":                               true,
		"java.net.UnknownHostException: api.test":                             true,
		"dial tcp: lookup api.test: no such host":                             true,
		"psql: error: could not translate host name \"db.test\" to address":   true,
		"ssh: Could not resolve hostname git.test: Name or service not known": true,
		"curl: (7) Failed to connect to api.test":                             false,
		"": false,
	} {
		for _, exit := range []int{0, 1} {
			a := bailiff.Answer{Output: []byte(output), ExitCode: exit}
			new(traffic).tell(&a)
			if is := strings.Contains(a.Message, "$HTTPS_PROXY"); is != (told && exit != 0) {
				t.Errorf("%q with exit status %d: %q", output, exit, a.Message)
			}
		}
	}
}

// Where names are looked up, nothing is said of the proxy; where they were to be, the reason is.
func TestWhyNoNamesAreLookedUpIsTold(t *testing.T) {
	t.Parallel()
	failed := func(of *traffic) string {
		a := bailiff.Answer{Output: []byte("could not resolve host"), ExitCode: 6}
		of.tell(&a)
		return a.Message
	}
	if said := failed(&traffic{names: true}); said != "" {
		t.Errorf("where names are looked up it says %q", said)
	}
	if said := failed(&traffic{noNames: "the port is taken"}); !strings.HasSuffix(said, "They cannot be: the port is taken.") {
		t.Errorf("where they cannot be it says %q", said)
	}
}

// An agent that knows that there is no network does not look for a way around.
func TestACommandThatReachedNothingIsToldOfTheMissingNetwork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		network string
		reaches bool
		output  string
		exit    int
		told    bool
	}{
		"it names a host":                     {backends.None, true, "curl: (28) Timeout", 28, true},
		"it could not look one up":            {backends.None, false, "npm error code EAI_AGAIN", 1, true},
		"it failed for another reason":        {backends.None, false, "2 tests failed", 1, false},
		"it did not fail":                     {backends.None, true, "could not resolve host", 0, false},
		"it may reach some":                   {backends.Egress, true, "could not resolve host", 6, false},
		"it may reach all, and there is none": {"full", true, "could not resolve host", 6, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := &judged{}
			m.Decision.Backend.Network, m.Reaches = c.network, c.reaches
			a := bailiff.Answer{Status: bailiff.Completed, Output: []byte(c.output), ExitCode: c.exit}
			if told := reachedNothing(m, a); told != c.told {
				t.Errorf("that it is told is %v", told)
			}
		})
	}
}

func TestADestinationIsNamedOnceForEachRule(t *testing.T) {
	t.Parallel()
	var all traffic
	for _, method := range []string{"DELETE", "PUT", "PUT", "MOVE"} {
		all.isNew(&bailiff.Blocked{Host: "a.test", Port: 443, Method: method, Rule: "egress.not_this_request"})
	}
	all.isNew(&bailiff.Blocked{Host: "a.test", Port: 443, Rule: "egress.stray_secret"})
	all.isNew(&bailiff.Blocked{Host: "b.test", Port: 443, Method: "POST", Rule: "egress.not_this_request"})
	var a bailiff.Answer
	all.tell(&a)
	if want := "Refused on the way out: a.test:443 (egress.not_this_request, 4 times: DELETE, PUT, MOVE), " +
		"a.test:443 (egress.stray_secret, once), b.test:443 (egress.not_this_request, once)."; a.Message != want {
		t.Errorf("got %s", a.Message)
	}
	if len(a.Egress.Blocked) != 5 {
		t.Errorf("the answer names %d", len(a.Egress.Blocked))
	}
}

// Where no host is reached, trying again is waiting in vain. What the policies set comes first.
func TestProgramsTryOnceWhereThereIsNoNetwork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		network string
		set     map[string]string
		want    map[string]string
	}{
		"no network":                 {backends.None, nil, map[string]string{"npm_config_fetch_retries": "0", "PIP_RETRIES": "0"}},
		"no network, and a constant": {backends.None, map[string]string{"PIP_RETRIES": "2"}, map[string]string{"PIP_RETRIES": "2"}},
		"every host":                 {"full", nil, map[string]string{"npm_config_fetch_retries": "", "PIP_RETRIES": ""}},
	} {
		b := newBench(t, func(b *bench) {
			b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Network, d.Env.Set = c.network, c.set })
		})
		var got map[string]bailiff.Secret
		b.fakeBackend.run = func(_ context.Context, cmd backends.Command, _ func([]byte)) (backends.Exit, error) {
			got = cmd.Env
			return backends.Exit{}, nil
		}
		if a := b.Execute(t.Context(), request("npm install"), nil); a.Status != bailiff.Completed {
			t.Fatalf("%s: the answer is %+v", name, a)
		}
		for variable, value := range c.want {
			if is := got[variable].Reveal(); is != value {
				t.Errorf("%s: %s is %q, want %q", name, variable, is, value)
			}
		}
	}
}
