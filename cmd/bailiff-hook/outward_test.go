package main

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

func TestAWebToolReachesWhatTheRowsOfEgressLetTheSandboxReach(t *testing.T) {
	const names = "egress: {hosts: {docs.example: 93.184.215.14, intranet.example: 93.184.215.15}}"
	s := apptest.Serve(t, names, apptest.WithRules(t, "", "      platforms: {}\n      ask_new_hosts",
		"      platforms: {cli: {network: egress, egress: [docs.example, intranet.example]}}\n      ask_new_hosts",
		"    destinations:\n", `    destinations:
      docs.example: [{paths: ["/open/**"]}]
      intranet.example: [{protocol: http, ports: [8080]}]
`))
	for address, says := range map[string]string{
		"https://docs.example/open/a": "", "http://intranet.example:8080/": "", "https://docs.example/closed": "docs.example",
		"https://docs.example:8443/open/a": "docs.example", "https://elsewhere.example/": "elsewhere.example",
		"http://169.254.169.254/latest": "metadata service",
	} {
		asked := strings.Replace(question("claude-code", "WebFetch", claudeInputOf(t, "url", address)), `"s1"`, `"`+address+`"`, 1)
		got := start(strings.NewReader(asked), "claude-code", "--listen", s.Agent, "--timeout", "45s")
		if says == "" && (got.status != 0 || !strings.Contains(got.stdout, `"allow"`)) {
			t.Errorf("of %s it says %+v", address, got)
		}
		if says != "" {
			refuses(t, address, got, says)
		}
	}
}

func TestASidecarThatJudgesNoConnectionsLetsNoWebToolRun(t *testing.T) {
	d := openListener(t, allowing("docker"))
	d.old = true
	refuses(t, "an old sidecar", d.ask("claude-code", "WebFetch", claudeInputOf(t, "url", "https://docs.example/")), "start it anew")
}
