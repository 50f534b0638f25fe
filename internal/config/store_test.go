package config

import (
	"strings"
	"testing"
)

func TestAPeerNeedsADatabaseAndFilesByWhichItIsKnown(t *testing.T) {
	const postgres, files = "postgres: {dsn: {file: dsn}}, ", "tls: {ca: ca.pem, cert: a.pem, key: a.key}"
	for text, want := range map[string]string{
		`peer: {listen: "0.0.0.0:7411", ` + files + `}`:             "lacks postgres",
		postgres + `peer: {listen: "0.0.0.0:7411"}`:                 "lacks listen or tls",
		postgres + `peer: {` + files + `}`:                          "lacks listen or tls",
		postgres + `peer: {listen: "7411", ` + files + `}`:          "want host:port",
		postgres + `peer: {listen: "0.0.0.0:7411", tls: {cert: x}}`: "lacks listen or tls",
	} {
		_, err := Parse("/etc/bailiff/bailiff.yaml", []byte("store: {replica: one, "+text+"}"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	text := "store: {replica: one, " + postgres + `peer: {listen: "0.0.0.0:7411", ` + files + "}}"
	c, err := Parse("/etc/bailiff/bailiff.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Store.Peer; p.Address != "one:7411" || p.CA != "/etc/bailiff/ca.pem" {
		t.Errorf("read is %+v", p)
	}
}

func TestAnOutageStopsOrFinishesWhatRuns(t *testing.T) {
	for text, want := range map[string]string{
		"postgres: {dsn: {file: dsn}}, on_outage: halt": "valid are finish, stop",
		"on_outage: stop": "lacks postgres",
		"postgres: {dsn: {file: dsn}}, on_stop: remove": "lacks peer",
		"on_stop: keep": "valid are hand_over, remove",
	} {
		_, err := Parse("/etc/bailiff/bailiff.yaml", []byte("store: {replica: one, "+text+"}"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
