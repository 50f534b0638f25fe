package suggest

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
)

const notInTable = `"rule":"egress.not_in_table"`

// wantedLines are what a log tells of connections, each with why a row comes of it or not.
var wantedLines = []string{
	`{"what":"refused","protocol":"https","host":"new.test","port":443,` + notInTable + `}`,
	`{"what":"refused","via":"direct","host":"new.test","port":0,` + notInTable + `}`, // looked up
	`{"what":"opened","protocol":"https","host":"api.test","port":443,"approval":"a-1"}`,
	`{"what":"opened","protocol":"https","host":"api.test","port":443,"method":"POST","path":"/v1/{x}*","approval":"a-1"}`,
	`{"what":"refused","protocol":"http","host":"plain.test","port":8080,"method":"PUT","path":"/\"a\": ,\"b","rule":"egress.new_host"}`,
	`{"what":"opened","protocol":"tcp","host":"db.test","port":5432,"approval":"a-2"}`,
	`{"what":"refused","protocol":"https","host":"10.1.2.3","port":443,"rule":"egress.address"}`,
	`{"what":"refused","protocol":"https","host":"github.com","port":443,"method":"POST","path":"/a/b/git-receive-pack",` +
		`"rule":"egress.not_this_request"}`,
	// Denied by people, closed by the floor, allowed anyway, no host at all, of another session.
	`{"what":"refused","protocol":"https","host":"denied.test","port":443,"rule":"egress.new_host","approval":"a-3"}`,
	`{"what":"refused","protocol":"https","host":"floor.test","port":443,"rule":"floor.address"}`,
	`{"what":"opened","protocol":"https","host":"open.test","port":443}`,
	`{"what":"refused","protocol":"https","host":"169.254.169.254","port":443,"rule":"egress.address"}`,
	`{"what":"refused","protocol":"https","host":"a\u001b.test","port":443,` + notInTable + `}`,
}

func suggested(t *testing.T) Suggestion {
	t.Helper()
	found := newDemand()
	lines := []string{`{"custom":{"event":"approval","approval":{"id":"a-3","state":"denied"}}}`}
	for _, connection := range wantedLines {
		lines = append(lines, `{"input":{"session":{"platform":"slack"}},"custom":{"event":"connection","connection":`+connection+`}}`)
	}
	for _, line := range lines {
		l, err := api.ReadLine([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		found.read(l)
	}
	return found.Suggestion([]string{"github.com"}, isMetadata)
}

// isMetadata is a floor of one address.
func isMetadata(address netip.Addr, _ int) bool { return address.String() == "169.254.169.254" }

func TestOfManyHostsThoseAreSuggestedThatWereWantedMost(t *testing.T) {
	t.Parallel()
	found := newDemand()
	want := func(host string, times int) {
		key := destination{host, "https", 443}
		found.hosts[key] = &demandedHost{key, map[string]map[string]bool{}, map[string]bool{}, map[string]int{"": times}, 0}
	}
	for n := range 5000 {
		want(fmt.Sprintf("n%d.flood.test", n), 1)
	}
	lookAlikes := map[string]string{"evilapi.test": "api.test", "api.test.evil.test": "api.test", "apl.test": "api.test",
		"aip.test": "api.test", "gthub.com": "github.com", "github.com.evil.test": "github.com", "api-test.evil.test": "api.test"}
	for host := range lookAlikes {
		want(host, 2)
	}
	for _, host := range []string{"api.test", "sub.api.test", "db1.test", "db2.test"} {
		want(host, 3)
	}
	want("169.254.169.254", 100)
	s := found.Suggestion([]string{"github.com", "*.github.com"}, isMetadata)
	if len(s.Hosts) != mostRows || s.More != 5000+11-mostRows {
		t.Errorf("%d hosts are suggested, and %d more are not", len(s.Hosts), s.More)
	}
	for _, host := range s.Hosts {
		if host.LooksLike != lookAlikes[host.Host] {
			t.Errorf("%s looks like %q, want %q", host.Host, host.LooksLike, lookAlikes[host.Host])
		}
		delete(lookAlikes, host.Host)
	}
	if len(lookAlikes) > 0 || s.Hosts[0].Host != "api.test" {
		t.Errorf("%v are not suggested, and %s is the first", lookAlikes, s.Hosts[0].Host)
	}
	var printed strings.Builder
	s.Print(&printed)
	for _, said := range []string{"# CAUTION: it looks like api.test, and is another host\n      \"evilapi.test\":",
		"# 4991 hosts that were wanted less"} {
		if !strings.Contains(printed.String(), said) {
			t.Errorf("%q is not in\n%s", said, printed.String())
		}
	}
}

func TestSuggestedRowsLetThroughWhatWasRefusedOrApproved(t *testing.T) {
	t.Parallel()
	s := suggested(t)
	const want = `bailiff:
  tables:
    destinations:
      # refused 0 times, approved 2 times
      "api.test":
        - {"ports":[443],"methods":["GET","HEAD"]}
        - {"ports":[443],"methods":["POST"],"paths":["/v1/\\{x\\}\\*"]}
      # refused 2 times, approved 0 times
      "new.test":
        - {"ports":[443],"methods":["GET","HEAD"]}
      # refused 1 time, approved 0 times
      "10.1.2.3":
        - {"ports":[443],"methods":["GET","HEAD"]}
      # refused 0 times, approved 1 time
      "db.test":
        - {"ports":[5432],"protocol":"tcp"}
      # refused 1 time, approved 0 times
      "plain.test":
        - {"ports":[8080],"protocol":"http","methods":["GET","HEAD"]}
        - {"ports":[8080],"protocol":"http","methods":["PUT"],"paths":["/\"a\": ,\"b"]}
`
	if s.Rows != want {
		t.Errorf("the rows are\n%s", s.Rows)
	}
	var printed strings.Builder
	s.Print(&printed)
	for _, line := range []string{
		"# github.com has rows already. Add beside them what is missing:\n",
		`#   - {"ports":[443],"methods":["POST"],"paths":["/a/b/git-receive-pack"]}` + "\n",
		"# Name new.test in network.platforms.slack.egress, unless the list has it already.\n",
	} {
		if !strings.Contains(printed.String(), line) {
			t.Errorf("%q is not in\n%s", line, printed.String())
		}
	}
}

func TestSuggestedRowsLoadBesideTheShippedPoliciesAndPassTheirTest(t *testing.T) {
	t.Parallel()
	backendtest.Long(t)
	s, folder, shipped := suggested(t), t.TempDir(), t.TempDir()
	policytest.CopyBeside(t, shipped)
	for name, text := range map[string]string{"data.yaml": s.Rows, "suggested_test.rego": s.Test} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	policies, err := pdp.Open(t.Context(), pdp.Config{Paths: []string{shipped, folder}, RequireTests: true})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(s.Test, "\ntest_"); n != 7 {
		t.Errorf("there are %d tests, want one for each of 7 rows:\n%s", n, s.Test)
	}
	c := bailiff.Connection{Protocol: "https", Host: "api.test", Port: 443, Intercepted: true, Method: "POST", Path: "/v1/{x}*",
		For: bailiff.ConnectionRequest{Egress: []string{"api.test"}}}
	if j := policies.Connection(t.Context(), c); j.Outcome != bailiff.Allow {
		t.Errorf("what was approved is %s: %+v", j.Outcome, j.Denials)
	}
	if c.Path = "/v1/other"; policies.Connection(t.Context(), c).Outcome != bailiff.Deny {
		t.Errorf("another path is let through")
	}
	alone := pdp.Config{Paths: []string{shipped, folder + "/suggested_test.rego"}, RequireTests: true}
	if policies, err := pdp.Open(t.Context(), alone); err == nil {
		t.Errorf("without the rows the test passes: %v", policies.Revision())
	}
}
