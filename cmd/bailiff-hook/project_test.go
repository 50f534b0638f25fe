package main

import (
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestAProjectIsOfTheSidecarsOwnMachine(t *testing.T) {
	for listen, want := range map[string]bool{"unix:///run/a.sock": true, "tcp://127.0.0.1:1": true, "tcp://[::1]:1": true,
		"tcp://localhost:1": true, "tcp://10.0.0.1:1": false, "tcp://x.test:1": false, "tcp://localhost.x.test:1": false} {
		if got := (hook{listen: listen}).isBeside(); got != want {
			t.Errorf("%s is on this machine: %v, want %v", listen, got, want)
		}
	}
}

func TestAProjectHoldsWhatNothingElseIsShownAt(t *testing.T) {
	shown := func(target string, projects ...string) decided {
		return decided{allowing("docker", bailiff.Mount{Source: "/p", Target: "/p"}, bailiff.Mount{Source: "/q", Target: target}), projects, nil}
	}
	for _, c := range []struct {
		d     decided
		files []string
		want  string
	}{
		{shown("/p/sub", "/p"), []string{"/p/x", "/p/y/z"}, "/p"},
		{shown("/p/sub", "/p"), []string{"/p/sub/x"}, ""},
		{shown("/p/sub", "/p"), []string{"/p/x", "/p/sub/x"}, ""},
		{shown("/p/sub", "/p"), []string{"/p"}, ""},
		{shown("/q", "/p"), []string{"/p"}, "/p"},
		{shown("/q", "/p"), []string{"/p/x", "/q/x"}, ""},
		{shown("/q", "/p", "/q"), []string{"/p/x", "/q/x"}, ""},
		{shown("/q"), []string{"/p/x"}, ""},
		{shown("/q", "/p"), []string{"/"}, ""},
		{shown("/q", "/p"), []string{"/px"}, ""},
	} {
		if got := c.d.projectOf(c.files); got != c.want {
			t.Errorf("%q is in %q, want %q", c.files, got, c.want)
		}
	}
}

func TestAProtectedPlaceIsKnownHoweverItIsWritten(t *testing.T) {
	d := decided{Decision: allowing("docker", bailiff.Mount{Source: "/p", Target: "/p", Protected: []string{".envrc", ".claude/",
		".git/modules/*/hooks/"}})}
	var got []string
	for _, file := range []string{"/p/.envrc", "/p/.ENVRC", "/p/.envrc2", "/p/sub/.envrc", "/p/.Claude/x/y", "/p/.git",
		"/p/.git/modules/a/Hooks/x", "/p/.git/modules/a/x", "/q/.envrc", "/p/x"} {
		if d.protects([]string{"/p/x", file}) {
			got = append(got, file)
		}
	}
	if want := []string{"/p/.envrc", "/p/.ENVRC", "/p/.Claude/x/y", "/p/.git", "/p/.git/modules/a/Hooks/x"}; !slices.Equal(got, want) {
		t.Errorf("protected are %q, want %q", got, want)
	}
}
