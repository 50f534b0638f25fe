# The promises of the shipped policies, in the words of those who rely on them.
#
#	opa test policies policy_test.rego

package promises_test

import data.bailiff.decision

# ---------------------------------------------------------------- where it runs

test_a_message_from_a_chat_never_runs_on_the_host if {
	every platform in chats {
		every wish in ["", "local", "docker", "bubblewrap", "nonsense"] {
			every backends in [{"docker", "local"}, {"bubblewrap", "local"}, {"local"}, {"docker", "bubblewrap", "local"}, set()] {
				backend_of(asked(platform, wish, backends, ls)) in {"docker", "bubblewrap", ""}
			}
		}
		every wish in ["", "local"] {
			decided(asked(platform, wish, {"local"}, ls)).outcome == "deny"
		}
		decided(asked(platform, "", set(), ls)).outcome == "deny"
	}
}

test_a_chat_gets_docker_and_bubblewrap_only_where_docker_is_not_configured if {
	every platform in chats {
		backend_of(asked(platform, "", {"docker", "bubblewrap", "local"}, ls)) == "docker"
		backend_of(asked(platform, "local", {"docker", "bubblewrap", "local"}, ls)) == "docker"
		backend_of(asked(platform, "", {"bubblewrap", "local"}, ls)) == "bubblewrap"
		backend_of(asked(platform, "", {"local"}, ls)) == ""
	}
}

test_a_sandbox_that_is_down_is_not_replaced_by_another_place if {
	down := {
		"docker": {"isolated": true, "ready": false},
		"bubblewrap": {"isolated": true, "ready": true},
		"local": {"isolated": false, "ready": true},
	}
	backend_of(object.union(asked("telegram", "", set(), ls), {"backend": {"available": down}})) == "docker"
}

test_a_platform_nobody_listed_is_denied if {
	decided(asked("carrier-pigeon", "", {"docker"}, ls)).outcome == "deny"
}

test_a_sandbox_has_no_network_and_cannot_change_its_system if {
	every platform in chats {
		sandbox := sandbox_of(asked(platform, "", {"docker"}, ls))
		sandbox.network == "none"
		sandbox.read_only
		sandbox.mounts == []
	}
}

test_a_sandbox_is_bounded if {
	every platform in chats {
		sandbox := sandbox_of(asked(platform, "", {"docker"}, ls))
		got := object.filter(sandbox, ["idle_seconds", "max_seconds", "cpus", "memory_mb", "pids"])
		got == {"idle_seconds": 3600, "max_seconds": 86400, "cpus": 1, "memory_mb": 5120, "pids": 256}
		limits := data.bailiff._execution_limits with input as asked(platform, "", {"docker"}, ls)
		limits.processes == 16
	}
}

test_the_command_line_may_use_the_host if {
	answer := decided(asked("cli", "local", {"docker", "local"}, ls))
	answer.outcome == "allow"
	answer.backend.name == "local"
}

# ------------------------------------------------------- what is never allowed

test_nobody_destroys_the_system_anywhere if {
	every calls in [
		[deleting("/")], [deleting("/etc")], [deleting("~")], [deleting("/*")],
		[calling("mkfs.ext4", [], ["/dev/sda1"])], [changing("dd", "/dev/sda")],
		[calling("shutdown", [], ["now"])], [calling("reboot", [], [])], [calling("kill", ["-9"], ["-1"])],
	] {
		decided(asked("telegram", "", {"docker"}, calls)).outcome == "deny"
		decided(asked("cli", "local", {"local"}, calls)).outcome == "deny"
	}
}

test_a_fork_bomb_is_denied_everywhere if {
	every platform in ["telegram", "cli"] {
		bomb := object.union(asked(platform, "", {"docker", "local"}, []), {"command": {"features": ["fork_bomb"]}})
		decided(bomb).outcome == "deny"
	}
}

# ------------------------------------------------ what a human is asked about

test_the_dangerous_needs_an_approval_on_the_host_and_none_in_a_sandbox if {
	every calls in dangerous {
		decided(asked("cli", "local", {"local"}, calls)).outcome == "ask"
		decided(asked("telegram", "", {"docker"}, calls)).outcome == "allow"
	}
}

test_an_engine_needs_an_approval_on_the_host_and_is_missing_in_a_sandbox if {
	engine := [calling("docker", [], ["run", "alpine"])]
	decided(asked("cli", "local", {"local"}, engine)).outcome == "ask"
	decided(asked("telegram", "", {"docker"}, engine)).outcome == "deny"
}

test_what_cannot_be_read_needs_an_approval_on_the_host if {
	hidden := object.union(asked("cli", "", {"local"}, ls), {"command": {"complete": false}})
	decided(hidden).outcome == "ask"
}

test_ordinary_work_is_not_asked_about if {
	every calls in ordinary {
		decided(asked("cli", "local", {"local"}, calls)).outcome == "allow"
	}
}

test_with_nobody_there_to_ask_the_answer_is_no if {
	every calls in dangerous {
		alone := object.union(asked("cli", "local", {"local"}, calls), {"session": {"unattended": true}})
		decided(alone).outcome == "deny"
	}
}

test_a_command_and_a_question_end_in_time if {
	answer := decided(asked("cli", "local", {"local"}, [deleting("build")]))
	answer.limits.timeout_seconds == 180
	answer.limits.output_bytes == 50000
	got := object.remove(answer.approval, ["reasons"])
	got == {"scopes": ["once", "session"], "timeout_seconds": 300, "grant_seconds": 3600, "quorum": 1, "patterns": true}
}

# ------------------------------------------------------- what a script may call

test_a_script_may_run_commands_and_call_nothing_else_that_nobody_named if {
	script := object.union(asked("telegram", "", {"docker"}, []), {"tool": "execute_code"})
	decided(script).tools == ["terminal"]
	every tool in ["web_search", "terminal", "execute_code", "process", ""] {
		decided(calling_back("telegram", tool)).outcome == "deny"
	}
}

test_a_call_of_a_script_is_what_the_table_says_and_never_on_the_host_for_a_chat if {
	every word in ["allow", "ask", "deny"] {
		answer := decided(calling_back("telegram", "web_search")) with data.bailiff.tables.callable_tools.web_search as word
		answer.outcome == word
	}
	every platform in chats {
		backend_of(calling_back(platform, "web_search")) == "docker"
	}
}

# ---------------------------------------------------------- which names enter

test_the_github_token_is_for_git_and_gh_only if {
	"GITHUB_TOKEN" in forwarded([calling("git", [], ["push"])], ["GITHUB_TOKEN"])
	"GITHUB_TOKEN" in forwarded([calling("gh", [], ["pr", "list"])], ["GITHUB_TOKEN"])
	every program in ["curl", "sh", "python3", "make", "cat", "env", "printenv", "nc", "ssh"] {
		forwarded([calling(program, [], ["x"])], ["GITHUB_TOKEN"]) == []
	}
	forwarded([calling("git", [], ["push"]), calling("curl", [], ["x"])], ["GITHUB_TOKEN"]) == []
}

test_keys_of_providers_and_variables_of_the_loader_never_enter if {
	names := [
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "TELEGRAM_BOT_TOKEN", "HERMES_HOME", "BAILIFF_TOKEN",
		"LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PATH", "PYTHONPATH", "BASH_ENV", "ENV", "NODE_OPTIONS",
	]
	forwarded([calling("git", [], ["push"])], names) == []
}

test_every_variable_of_the_table_says_for_which_platforms if {
	every entries in data.bailiff.tables.env {
		every entry in entries {
			count(entry.platforms) > 0
		}
	}
}

test_what_was_not_asked_for_does_not_enter if {
	forwarded([calling("git", [], ["push"])], []) == []
}

test_every_name_that_stays_out_comes_with_a_reason if {
	answer := decided(object.union(
		asked("telegram", "", {"docker"}, [calling("git", [], ["push"])]),
		{"env": {"requested": ["PATH", "NOBODY_KNOWS", "GITHUB_TOKEN"], "available": ["PATH", "NOBODY_KNOWS"]}},
	))
	{entry.name | some entry in answer.env.withheld} == {"PATH", "NOBODY_KNOWS", "GITHUB_TOKEN"}
}

# ----------------------------------------------------------------------- words

chats := {"telegram", "discord", "slack", "whatsapp", "signal", "matrix"}

ls := [calling("ls", [], [])]

dangerous := [
	[deleting("build")],
	[calling("sudo", [], ["ls"])],
	[calling("chmod", [], ["777", "a"])],
	[calling("chown", [], ["root", "a"])],
	[calling("systemctl", [], ["stop", "nginx"])],
	[calling("pkill", [], ["node"])],
	[calling("useradd", [], ["eve"])],
	[calling("mount", [], ["/dev/sdb1", "/mnt"])],
	[calling("ssh", [], ["host"])],
	[calling("git", ["--force"], ["push"])],
	[calling("apt", [], ["remove", "jq"])],
	[calling("bailiff", [], ["approvals", "approve", "1"])],
	[changing("tee", "/etc/hosts")],
	[changing("tee", "~/.bashrc")],
	[changing("tee", "~/.ssh/authorized_keys")],
	[object.union(calling("cat", [], [".env"]), {"reads": [".env"]})],
]

ordinary := [
	ls,
	[calling("git", [], ["status"])],
	[calling("git", ["-m"], ["commit"]), calling("git", [], ["push", "origin", "feature"])],
	[calling("go", [], ["test", "./..."])],
	[calling("npm", [], ["test"])],
	[calling("grep", ["-r"], ["rm -rf /", "."])],
	[calling("echo", [], ["curl x | sh"])],
	[changing("sed", "src/main.go")],
	[changing("rm", "old.txt")],
	[calling("curl", ["-s"], ["https://api.example.com/v1/items"])],
]

decided(request) := answer if answer := decision with input as request

# Where a request runs, before its text counts.
backend_of(request) := name if name := data.bailiff._chosen with input as request

sandbox_of(request) := backend if backend := data.bailiff._backend with input as request

forwarded(calls, names) := decided(object.union(
	asked("telegram", "", {"docker"}, calls),
	{"env": {"requested": names, "available": names}},
)).env.forward

asked(platform, wish, backends, calls) := {
	"tool": "terminal",
	"args": {"command": "…", "timeout": 0},
	"caller": {"name": "test"},
	"session": {"id": "s", "platform": platform, "unattended": false},
	"command": {
		"text": "…", "parsed": true, "complete": true,
		"programs": sort({call.program | some call in calls}),
		"calls": calls,
		"hosts": [],
		"reads": [path | some call in calls; some path in call.reads],
		"writes": [path | some call in calls; some path in call.writes],
		"variables": [], "features": [], "assigns": [],
	},
	"env": {"requested": [], "available": []},
	"backend": {
		"requested": wish,
		"available": {name: {"isolated": name != "local", "ready": true} | some name in backends},
	},
	"time": "2026-11-21T12:00:00Z",
}

calling_back(platform, tool) := object.union(
	object.remove(asked(platform, "", {"docker", "local"}, []), {"command", "args"}),
	{"tool": "call", "args": {"name": tool, "arguments": {"query": "x"}}},
)

calling(program, flags, operands) := {
	"program": program,
	"argv": array.concat([program], array.concat(flags, operands)),
	"flags": flags, "operands": operands,
	"wrappers": [], "assigns": [], "reads": [], "writes": [], "pipes_to": "",
}

changing(program, path) := object.union(calling(program, [], [path]), {"writes": [path]})

deleting(path) := object.union(calling("rm", ["-r", "-f"], [path]), {"writes": [path]})

test_what_is_opened_is_asked_about_by_the_shipped_table if {
	_shipped({"networked"}) == {
		"command.destroys_system", "command.sends_files", "command.sends_environment", "command.reads_credentials",
		"command.runs_downloaded", "command.opens_reverse_shell", "command.reaches_metadata", "command.reaches_new_host",
		"command.sends_host_facts", "session.runs_brought", "session.denied_often",
		"session.reaches_many_hosts", "session.reaches_host_with_credentials",
	}
	_shipped({"shared"}) == {
		"command.destroys_system", "command.deletes_recursively", "command.deletes_by_pattern", "command.destroys_data",
		"command.rewrites_history", "command.writes_startup", "command.unseats_home",
	}
	_shipped(set()) == {"command.destroys_system"}
}

_shipped(opened) := {rule |
	some class in data.bailiff.tables.classes
	rule := class.rule
	data.bailiff._verdict_on({"rule": rule}) != "allow" with data.bailiff._places as {"sandbox"} | opened
}
