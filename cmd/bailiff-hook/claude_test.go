package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func claudeInputOf(t *testing.T, name, value string) string {
	t.Helper()
	text, err := json.Marshal(map[string]string{name: value, "message": "hello", "prompt": "what is it"})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestClaudeCodeSendsMessagesToAgentsAndOpensNoSocket(t *testing.T) {
	d := openListener(t, allowing("local"))
	for _, to := range []string{"uds:/run/x.sock", "uds:///run/x.sock", "uds:%2Frun%2Fx.sock", "/run/x.sock", "./x.sock", "bridge:x",
		"did:x", "UDS:x", "a [b]", " a", "*", "ä", "a\n", ""} {
		refuses(t, to, d.ask("claude-code", "SendMessage", claudeInputOf(t, "to", to)), "SendMessage")
	}
	for _, to := range []string{"main", "tester_2", "a1b2-c3"} {
		if got := d.ask("claude-code", "SendMessage", claudeInputOf(t, "to", to)); got.status != 0 || got.stdout != "" {
			t.Errorf("to %s it says %+v", to, got)
		}
	}
}

func TestClaudeCodeFetchesOnlyWhatEverybodyReadsAsTheSameHost(t *testing.T) {
	d := openListener(t, allowing("local"))
	for _, url := range []string{
		`http:\\169.254.169.254/`, `http:\/169.254.169.254/`, `http://x.test\@169.254.169.254/`, "http:/169.254.169.254/",
		"http:169.254.169.254/", "http:///169.254.169.254/",
		"http://169。254。169。254/", "http://１６９.254.169.254/", "http://\t169.254.169.254/", "ht\ntp://169.254.169.254/",
		" http://169.254.169.254/", "http://x.test/ y",
		"http://ana@169.254.169.254/", "http://x.test:80@169.254.169.254/", "http://%31%36%39.254.169.254/", "http://x_y.test/",
		"http://x.test;y/", "http://", "https://?x",
		"HTTP://x.test/", "ftp://x.test/", "file:///etc/passwd", "x.test", "http://x.test/ä", "http://x.test/\x7f", "http://{x,y}.test/",
	} {
		refuses(t, url, d.ask("claude-code", "WebFetch", claudeInputOf(t, "url", url)), "write the address as http://host/")
	}
	for _, url := range []string{"http://x.test", "https://x.test/", "https://x-y.test:8443/a/b?q=%C3%A4&r=@#z", "http://[::1]:80/",
		"http://x.test?y", "http://169.254.169.254/"} {
		got := d.ask("claude-code", "WebFetch", claudeInputOf(t, "url", url))
		if got.status != 0 || !strings.Contains(d.asked.Args.Command, url) {
			t.Errorf("%s: it says %+v, judged as %q", url, got, d.asked.Args.Command)
		}
	}
}
