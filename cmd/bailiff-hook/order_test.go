package main

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

func TestAnOrderIsKnownByMakingItAgain(t *testing.T) {
	d := openListener(t, denying)
	known := d.order("claude-code", " -- 'rm x'")
	quote := func(command string) string { return `{"command": ` + hook.JSON(command) + `}` }
	for _, command := range []string{known, d.order("claude-code", " --workdir '/a b' --timeout 5 --wait 900 -- 'it'\\''s'")} {
		if got := d.ask("claude-code", "Bash", quote(command)); got.status != 0 || !strings.Contains(got.stdout, hook.JSON(command)) {
			t.Errorf("%s is told %d %s", command, got.status, got.stdout)
		}
	}
	for name, command := range map[string]string{
		"another command after it": known + "; rm y", "one in its place": known + " && rm y", "output elsewhere": known + " > /etc/x",
		"one before it": "rm y; " + known,
		"a variable":    "LD_PRELOAD=x " + known, "another program": strings.Replace(known, "/bin/sh", "/bin/bash", 1),
		"another session": strings.Replace(known, ":s1", ":s2", 1),
		"another user":    strings.Replace(known, "--user 7", "--user 8", 1), "another address": strings.Replace(known, "unix://",
			"unix:///tmp", 1),
		"on the host": strings.Replace(known, " -- ", " --backend local -- ", 1), "a text without quotes": strings.Replace(known, "'rm x'",
			"rm", 1),
		"a substitution": strings.Replace(known, "'rm x'", `"$(rm x)"`, 1), "a time of its own": strings.Replace(known, " -- ",
			" --timeout 05 -- ", 1),
		"two of them": known + " " + known, "without text": d.order("claude-code", " --"), "a new line": known + "\n",
		"a second space": strings.Replace(known, " -- ", "  -- ", 1),
	} {
		if refuses(t, name, d.ask("claude-code", "Bash", quote(command)), "Closed"); d.asked.Args.Command != command {
			t.Errorf("%s is not judged", name)
		}
	}
}

func TestACallOfASubAgentIsJudgedAndRunAsThat(t *testing.T) {
	for _, client := range []string{"claude-code", "codex", "qwen-code"} {
		tool := map[string]string{"qwen-code": "run_shell_command"}[client]
		if tool == "" {
			tool = "Bash"
		}
		d := openListener(t, allowing("docker"))
		ask := func(agent, command string) told {
			return start(strings.NewReader(asAgent(agent, question(client, tool, `{"command": `+hook.JSON(command)+`}`))),
				client, "--listen", d.address, "--bailiff", "/bin/sh", "--user", "7")
		}
		got := ask("a1 b", "ls")
		if want := (bailiff.Agent{ID: "a1 b", Depth: 1}); d.asked.Session.Agent != want {
			t.Errorf("%s: it comes from %+v, want %+v", client, d.asked.Session.Agent, want)
		}
		order := d.order(client, " --agent 'a1 b' -- 'ls'")
		if !strings.Contains(got.stdout, strings.Trim(hook.JSON(order), `"`)) {
			t.Errorf("%s: it is told %s, want the order %s", client, got.stdout, order)
		}
		d = openListener(t, denying)
		for name, c := range map[string]struct {
			agent, command string
			order          bool
		}{
			"its own order":           {"a1", d.order(client, " --agent a1 -- 'ls'"), true},
			"its parent's order":      {"a1", d.order(client, " -- 'ls'"), false},
			"its sister's order":      {"a1", d.order(client, " --agent a2 -- 'ls'"), false},
			"a child's, by its own":   {"", d.order(client, " --agent a1 -- 'ls'"), false},
			"a deeper one than it is": {"a1", d.order(client, " --agent a1 --agent-depth 2 -- 'ls'"), false},
		} {
			d.asked = bailiff.Request{}
			got := ask(c.agent, c.command)
			if isOrder := got.status == 0; isOrder != c.order || !isOrder && d.asked.Args.Command != c.command {
				t.Errorf("%s, %s: taken as an order is %v: %s", client, name, isOrder, got.stdout)
			}
		}
	}
}
