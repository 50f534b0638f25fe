package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// typed runs a command line and returns what it prints.
func typed(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// consoleOf is a console at which a person has logged in once they were asked twice.
func consoleOf(t *testing.T, ends time.Time) (url string, token func() string) {
	t.Helper()
	var asked, seen atomic.Value
	asked.Store(0)
	seen.Store("")
	answer := func(w http.ResponseWriter, value any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login/device", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, api.DeviceLogin{URL: "https://id.example.com/device", Code: "AB-CD", Device: "d", ExpiresAt: time.Now().Add(time.Minute)})
	})
	mux.HandleFunc("POST /login/device/wait", func(w http.ResponseWriter, _ *http.Request) {
		n := asked.Load().(int) + 1
		if asked.Store(n); n < 2 {
			answer(w, api.DeviceLoggedIn{})
			return
		}
		answer(w, api.DeviceLoggedIn{Token: "a-token-of-ana", Person: "ana", ExpiresAt: ends})
	})
	mux.HandleFunc("GET /v1/grants", func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Get("Authorization"))
		answer(w, api.Grants{Grants: []api.Grant{}})
	})
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, r *http.Request) {
		status, code := http.StatusForbidden, "not_eligible" // it lacks the scope
		if r.Header.Get("Authorization") != "Bearer a-token-of-a-program" {
			status, code = http.StatusUnauthorized, "not_logged_in"
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(api.Problem{Code: code, Message: "No."})
	})
	mux.HandleFunc("POST /logout", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, func() string { return seen.Load().(string) }
}

func TestALoginIsKeptForItsUserAloneAndUsedUntilLogout(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	url, token := consoleOf(t, time.Now().Add(time.Hour))
	out, err := typed(t, "login", "--at", url)
	if err != nil || !strings.Contains(out, "Open https://id.example.com/device and enter the code AB-CD") ||
		!strings.Contains(out, "You are logged in as ana until") || strings.Contains(out, "a-token") {
		t.Fatalf("%v: %s", err, out)
	}
	file := filepath.Join(home, ".config", "bailiff", "login.json")
	about, err := os.Stat(file)
	if err != nil || about.Mode().Perm() != 0o600 {
		t.Fatalf("kept as %v, %v", about, err)
	}
	if out, err := typed(t, "approvals", "grants"); err != nil || token() != "Bearer a-token-of-ana" {
		t.Errorf("a command asks with %q: %v %s", token(), err, out)
	}
	if out, err := typed(t, "logout"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("after that it is still kept: %v", err)
	}
	if _, err := typed(t, "logout"); err == nil || !strings.Contains(err.Error(), "not logged in") {
		t.Errorf("a second time: %v", err)
	}
}

func TestALoginThatCannotBeUsedSaysSo(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("BAILIFF_CONFIG", "")
	url, _ := consoleOf(t, time.Now().Add(-time.Hour))
	if out, err := typed(t, "login", "--at", url); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, _ := typed(t, "approvals", "grants"); !strings.Contains(out, "has ended; going on by the operators' socket") {
		t.Errorf("one that has ended: %s", out)
	}
	if err := os.Chmod(filepath.Join(home, ".config", "bailiff", "login.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := typed(t, "approvals", "grants"); err == nil || !strings.Contains(err.Error(), "others may use") {
		t.Errorf("one that others may read: %v", err)
	}
	for address, says := range map[string]string{"": "--at is missing", "http://id.example.com": "want https://"} {
		if _, err := typed(t, "login", "--at", address); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("at %q: %v", address, err)
		}
	}
}

func TestAProgramsTokenIsReadAtEachUse(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	url, token := consoleOf(t, time.Now().Add(time.Hour))
	file := filepath.Join(home, "siem.token")
	keep := func(text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(file, []byte(text), mode), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		text string
		mode os.FileMode
		says string
	}{
		{"a-token-of-no-program", 0o600, "No."}, {"a-token", 0o600, "holds a secret of 7 characters, want at least 16"},
		{"a-token-of-a-program", 0o644, "others may use " + file},
	} {
		keep(c.text, c.mode)
		if out, err := typed(t, "login", "--at", url, "--token-file", file); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("with %q, %04o: %v %s", c.text, c.mode, err, out)
		}
	}
	keep("a-token-of-a-program", 0o600)
	if out, err := typed(t, "login", "--at", url, "--token-file", file); err != nil || strings.Contains(out, "a-token-of") {
		t.Fatalf("%v: %s", err, out)
	}
	keep("another-token-of-it", 0o600)
	if out, err := typed(t, "approvals", "grants"); err != nil || token() != "Bearer another-token-of-it" {
		t.Errorf("a command asks with %q: %v %s", token(), err, out)
	}
	kept, err := os.ReadFile(filepath.Join(home, ".config", "bailiff", "login.json"))
	if err != nil || strings.Contains(string(kept), "token-of") {
		t.Errorf("kept is %s, %v", kept, err)
	}
	if out, err := typed(t, "logout"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
