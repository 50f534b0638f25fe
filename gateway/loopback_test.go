package gateway

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// needsIPv6 wants the other address of localhost.
func needsIPv6(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", "[::1]:0")
	if err == nil {
		_ = l.Close()
	}
	backendtest.Needs(t, "IPv6 at localhost", err)
}

func TestAListenerAtLocalhostAnswersAtBothOfItsAddresses(t *testing.T) {
	t.Parallel()
	needsIPv6(t)
	l, err := Open(ListenerConfig{Name: "page", Network: "tcp", Address: "localhost:0", Login: true},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- l.Serve() }()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(l.Address(), "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	addresses := []string{"127.0.0.1", "::1"}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, address := range addresses {
		resp, err := client.Get("http://" + net.JoinHostPort(address, port))
		if err != nil {
			t.Fatalf("at %s: %v", address, err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(text) != "here" {
			t.Errorf("at %s it says %q", address, text)
		}
	}
	if err := l.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	for _, address := range addresses {
		if c, err := net.Dial("tcp", net.JoinHostPort(address, port)); err == nil {
			_ = c.Close()
			t.Errorf("after its end it listens at %s", address)
		}
	}
}

func TestAListenerAtLocalhostDoesNotOpenWhereAnotherProgramHasOneOfItsAddresses(t *testing.T) {
	t.Parallel()
	needsIPv6(t)
	other, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	_, port, _ := net.SplitHostPort(other.Addr().String())
	l, err := Open(ListenerConfig{Name: "page", Network: "tcp", Address: "localhost:" + port, Login: true}, http.NotFoundHandler())
	if err == nil {
		_ = l.Shutdown(t.Context())
		t.Fatal("it opens at the address that is left")
	}
	if !strings.Contains(err.Error(), "[::1]:"+port) {
		t.Errorf("it does not say which is taken: %v", err)
	}
}
