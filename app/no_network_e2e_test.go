package app

import (
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// Who is told that a sandbox has no network does not try other hosts and proxies.
func TestCommandsAndScriptsThatReachNobodyAreToldOfTheMissingNetwork(t *testing.T) {
	t.Parallel()
	s := startOffice(t, openDir(t), onePerson(t, "backends: {bubblewrap: {}}"))
	told := func(req bailiff.Request, want string) {
		t.Helper()
		req.Backend = ""
		if a := ask(t, s.agent, req); a.Status != bailiff.Completed || a.Message != want {
			t.Errorf("of %s%s it says %q (%s)", req.Args.Command, req.Args.Code, a.Message, a.Status)
		}
	}
	const none = "This sandbox has no network, so that no host, address or proxy is reached. Hosts are opened in the table " +
		"network.platforms.cli of the policies."
	script := atTerminal("s", "")
	script.Tool = bailiff.ExecuteCode
	told(atTerminal("s", "curl -sS https://example.com"), none)
	told(atTerminal("s", "cat /no/such/file"), "")
	script.Args.Code = "import urllib.request as r\nr.urlopen('https://example.com')"
	told(script, none)
	script.Args.Code = "1/0"
	told(script, "")
}
