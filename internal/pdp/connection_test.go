package pdp

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

func wayTo(host string) bailiff.Connection {
	return bailiff.Connection{Protocol: "https", Via: "connect", Host: host, Port: 443, Intercepted: true, Backend: "docker",
		Session: bailiff.Session{ID: "s", Platform: "slack"}, Time: time.Now(),
		For: bailiff.ConnectionRequest{Tool: bailiff.Terminal, Egress: []string{"python", "github"}}}
}

func TestTheShippedPoliciesJudgeConnections(t *testing.T) {
	backendtest.Evaluates(t)
	p, err := Open(context.Background(), Config{EvalTimeout: time.Minute})
	must(t, err)
	push := wayTo("github.com")
	push.Method, push.Path = "POST", "/acme/app/git-receive-pack"
	for name, c := range map[string]struct {
		asked   bailiff.Connection
		outcome bailiff.Outcome
		rule    string
	}{
		"a host of a group":           {wayTo("pypi.org"), bailiff.Allow, ""},
		"a host of another group":     {wayTo("registry.npmjs.org"), bailiff.Deny, "egress.not_in_table"},
		"a host that no row names":    {wayTo("evil.test"), bailiff.Deny, "egress.not_in_table"},
		"a push where a clone may be": {push, bailiff.Deny, "egress.not_this_request"},
	} {
		for range 2 { // judged, then remembered
			j := p.Connection(context.Background(), c.asked)
			if j.Fault != nil || j.Outcome != c.outcome || j.Revision == "" || c.rule != "" && (len(j.Denials) != 1 ||
				j.Denials[0].Rule != c.rule) {
				t.Errorf("%s: %+v", name, j)
			}
			if c.rule != "" && j.Denials[0].Instead == "" {
				t.Errorf("%s: nothing is said to do instead", name)
			}
		}
	}
	if p.inForce.Load().connections == nil {
		t.Error("judgements of connections are not remembered")
	}
}

func TestPoliciesWithoutARuleLetNoConnectionThrough(t *testing.T) {
	p := opened(t, map[string]string{"a.rego": allowing})
	if j := p.Connection(context.Background(), wayTo("pypi.org")); j.Outcome != bailiff.Deny ||
		len(j.Denials) != 1 {
		t.Errorf("%+v", j)
	}
}

func TestAnOddAnswerAboutAConnectionDenies(t *testing.T) {
	for name, answer := range map[string]string{
		"no object":                  `"allow"`,
		"an unknown word":            `{"outcome": "yes", "denials": []}`,
		"an unknown key":             `{"outcome": "allow", "denials": [], "addresses": []}`,
		"no denials":                 `{"outcome": "allow"}`,
		"a denial that is allowed":   `{"outcome": "allow", "denials": [{"rule": "a", "message": "b"}]}`,
		"a refusal without a reason": `{"outcome": "deny", "denials": []}`,
		"a question without one":     `{"outcome": "ask", "denials": []}`,
		"private as a word":          `{"outcome": "allow", "denials": [], "private": "true"}`,
		"a limit in words":           `{"outcome": "allow", "denials": [], "limits": {"upload_mb": "1"}}`,
		"an unknown limit":           `{"outcome": "allow", "denials": [], "limits": {"upload": 1}}`,
		"undefined":                  `{"outcome": "allow", "denials": []} if input.connection.host == "other.test"`,
		"a conflict":                 `{"outcome": "allow", "denials": []}` + "\n\nconnection := 1",
	} {
		p := opened(t, map[string]string{"a.rego": allowing + "\nconnection := " + answer + "\n"})
		if j := p.Connection(context.Background(), wayTo("pypi.org")); j.Outcome != bailiff.Deny || len(j.Denials) == 0 ||
			j.Fault == nil {
			t.Errorf("%s: %+v", name, j)
		}
	}
}

// What does not end is cut off, and what fails says so: neither lets anything through.
func TestPoliciesThatFailOrTakeLongLetNoConnectionThrough(t *testing.T) {
	for wrong, rules := range map[string]string{
		"no answer": `connection := {"outcome": "allow", "denials": []} if count(numbers.range(1, 1000000000)) > 0`,
		"eval_conflict_error": "connection := {\"outcome\": \"allow\", \"denials\": []} if input.connection.port == 443\n\n" +
			"connection := {\"outcome\": \"deny\", \"denials\": []} if input.connection.port == 443",
	} {
		p := opened(t, map[string]string{"a.rego": allowing + "\n" + rules + "\n"})
		if wrong == "no answer" { // within that time, or for want of a processor
			p.config.EvalTimeout = 20 * time.Millisecond
		}
		for range 2 { // a fault is not remembered as an answer
			j := p.Connection(context.Background(), wayTo("pypi.org"))
			if j.Outcome != bailiff.Deny || j.Fault == nil || len(j.Denials) != 1 || j.Denials[0].Rule != "policy.error" ||
				!strings.Contains(j.Denials[0].Message, wrong) {
				t.Errorf("%s: %+v", wrong, j)
			}
		}
	}
}

func TestTheNewPoliciesJudgeTheNextConnection(t *testing.T) {
	root := untested(t)
	p, err := Open(context.Background(), Config{Paths: []string{root}, EvalTimeout: time.Minute})
	must(t, err)
	if j := p.Connection(context.Background(), wayTo("pypi.org")); j.Outcome != bailiff.Allow {
		t.Fatalf("before: %+v", j)
	}
	write(t, filepath.Join(root, "house.rego"), `package bailiff

deny_connection contains {"rule": "house.closed", "message": "Closed."} if input.connection.host == "pypi.org"
`)
	p.reload(t.Context(), true)
	must(t, p.Sound())
	if j := p.Connection(context.Background(), wayTo("pypi.org")); j.Outcome != bailiff.Deny || j.Denials[0].Rule != "house.closed" {
		t.Errorf("after: %+v", j)
	}
}

// BenchmarkConnectionRows compares a new judgement over 10,000 rows with one over 100.
func BenchmarkConnectionRows(b *testing.B) {
	few, many := withRows(b, 100), withRows(b, 10_000)
	n := 0
	judge := func(p *PDP) func() {
		return func() {
			n++
			c := wayTo("pypi.org")
			c.Session.UserName = fmt.Sprint(n)
			if j := p.Connection(context.Background(), c); j.Outcome != bailiff.Allow {
				b.Fatalf("%+v", j)
			}
		}
	}
	compare(b, "x-few", judge(many), judge(few))
}

// BenchmarkConnectionKnown compares a judgement that is remembered with a new one.
func BenchmarkConnectionKnown(b *testing.B) {
	p, n := withRows(b, 100), 0
	judge := func(user string) {
		c := wayTo("pypi.org")
		c.Session.UserName = user
		if j := p.Connection(context.Background(), c); j.Outcome != bailiff.Allow {
			b.Fatalf("%+v", j)
		}
	}
	compare(b, "x-new", func() { judge("ana") }, func() { n++; judge(fmt.Sprint(n)) })
}

func withRows(b *testing.B, rows int) *PDP {
	b.Helper()
	var table strings.Builder
	table.WriteString("bailiff:\n  tables:\n    destinations:\n")
	for i := range rows {
		fmt.Fprintf(&table, "      host%d.example: [{methods: [GET]}]\n", i)
	}
	root := copied(b)
	write(b, filepath.Join(root, "more.yaml"), table.String())
	p, err := Open(context.Background(), Config{Paths: []string{root}, EvalTimeout: time.Minute})
	must(b, err)
	return p
}

func TestCheckNamesPlatformsWhoseConnectionsNoRuleJudges(t *testing.T) {
	const data = "bailiff:\n  tables:\n    network:\n      platforms:\n        cli: {network: none}\n        slack: {network: egress}\n"
	for rule, want := range map[string]string{
		"": "data.yaml:6: bailiff.tables.network.platforms.slack.network: the platform has the network egress, " +
			"but no rule bailiff.connection judges",
		"\nconnection := {}\n": "",
	} {
		root := tree(t, map[string]string{"p.rego": composing + rule, "data.yaml": data})
		got := source.Faults(Check(Config{Paths: []string{root}})).Error()
		if !strings.HasPrefix(strings.ReplaceAll(got, root+"/", ""), want) || (got == "") != (want == "") {
			t.Errorf("with the rule %q: got %q, want %q", rule, got, want)
		}
		if wrong := startingWith(root); len(wrong) > 0 {
			t.Errorf("with the rule %q it does not start: %v", rule, wrong)
		}
	}
}

// A connection of the log is explained by what was logged of it. Policies of a team's own need
// not have the shipped rules about rows.
func TestAConnectionOfTheLogIsExplained(t *testing.T) {
	asked := wayTo("pypi.org")
	asked.Session.Platform, asked.For.Egress = "cli", []string{"mine"}
	input, err := ConnectionInput(asked).MarshalJSON()
	must(t, err)
	tables := `bailiff: {tables: {destinations: {pypi.org: [{ports: [443]}]}, destination_groups: {mine: ["pypi.org:443"]},
  network: {platforms: {cli: {network: egress, egress: [mine]}}}}}
`
	root := opened(t, map[string]string{"data.yaml": tables, "a.rego": allowing + `
connection := {"outcome": "deny", "denials": [reason]} if some reason in deny_connection

deny_connection contains {"rule": "house.closed", "message": "Closed."} if input.connection.host == "pypi.org"
`})
	p, err := Open(t.Context(), Config{Paths: root.config.Paths, Explained: true, ExplainTimeout: time.Minute})
	must(t, err)
	as := func(text []byte) []byte { return text }
	j, x, err := p.ExplainLogged(t.Context(), input, as)
	must(t, err)
	if j.Outcome != bailiff.Deny || x.Fault != "" || len(x.Fired) != 1 || x.Fired[0].Rule != "house.closed" || x.Fired[0].Line == 0 {
		t.Errorf("judged %v, explained by %+v", j, x.Fired)
	}
	if len(x.Rows) != 1 || x.Rows[0].Fits != "" || x.Rows[0].Line != 1 {
		t.Errorf("the rows are %+v", x.Rows)
	}
	if len(x.Lists) != 2 || x.Lists[0].Name != "network.platforms.cli" || x.Lists[1].Name != "destination_groups.mine" ||
		x.Lists[0].Line != 2 {
		t.Errorf("the lists are %+v", x.Lists)
	}
	if _, _, err := p.ExplainLogged(t.Context(), []byte(`{"connection": {}}`), as); err == nil {
		t.Error("a document without a time is explained")
	}
}
