package bailiff_test

test_deepest_entry_counts if {
	_written("/etc/hosts") == {"command.writes_system"}
	_written("/etc/cron.d/job") == {"command.writes_startup"}
	_written("/etc/ssh/sshd_config") == {"command.writes_ssh"}
	_written("/etc/sudoers.d/eve") == {"command.changes_accounts"}
	_written("/var/tmp/x") == set()
	_written("/var/log/syslog") == {"command.erases_traces"}
	_written("/dev/null") == set()
	_written("/dev/sda") == {"command.destroys_system", "command.writes_system"}
	_written("/dev/group/volume") == {"command.destroys_system", "command.writes_system"}
	_written("/dev/kvm") == {"command.writes_system"}
	_written("/dev/bus/usb/001/004") == {"command.writes_system"}
	_written("~/.bashrc") == {"command.writes_startup"}
	_written("~/.ssh/known_hosts") == set()
	_written("~/.hermes/config.yaml") == {"command.changes_own_settings"}
}

test_names_count_wherever_they_lie if {
	_written("/workspace/bailiff.yaml") == {"command.changes_own_settings"}
	_written("project/.claude/settings.json") == {"command.changes_own_settings"}
	_written("project/.claude/agents/helper.md") == {"command.changes_own_settings"}
	_written("project/.codex/hooks.json") == {"command.changes_own_settings"}
	_written("project/.git/hooks/pre-push") == {"command.writes_startup"}
	_written("project/settings.json") == set()
	_written("src/hosts.go") == set()
	_written(".venv/lib/python3.12/site-packages/x.pth") == {"command.writes_startup"}
	_written("models/x.pth") == set()
	_written("site-packages/x/y.pth") == set()
}

test_paths_are_looked_up_by_folder_name_and_pattern if {
	_named_by(["/etc/shadow"], []) == {["reads", "credentials", "/etc/shadow"]}
	_named_by(["/etc/hosts"], []) == set()
	_named_by([], ["/etc/hosts"]) == {["writes", "system", "/etc/hosts"]}
	_named_by([".env", "src/.env", "src/a.go"], []) == {
		["reads", "credentials", ".env"],
		["reads", "credentials", "src/.env"],
	}
	_named_by(["server.key"], []) == {["reads", "credentials", "server.key"]}
	_named_by(["~/.ss?/id_rsa"], []) == {["reads", "credentials", "~/.ss?/id_rsa"]}
	_named_by([], ["project/.git/hooks/pre-push", "project/.git/config"]) == {
		["writes", "startup", "project/.git/config"],
		["writes", "startup", "project/.git/hooks/pre-push"],
	}
	_named_by([], ["/home/ana/.bashrc"]) == {["writes", "startup", "/home/ana/.bashrc"]}
	_named_by(["/root"], []) == set()
	_named_by([], []) == set()
}

_named_by(read, changed) := named if {
	asked := object.union(request("cli", []), {"command": {"reads": read, "writes": changed}})
	named := data.bailiff._named_paths with input as asked
}

test_dotted_entries_of_a_home_are_asked_about if {
	every path in ["~/.foo", "/root/.foo/bar", "/home/ana/.config/x/y", "~/.local/bin/ls"] {
		_written(path) == {"command.writes_startup"}
	}
	every path in ["~/.cache/x", "~/foo", "~/src/.foo", "~/.", "/srv/.foo"] {
		_written(path) == set()
	}
	_paths([writing("mkdir", ["-p"], "~/.foo")]).rules == set()
	_paths([writing("mkdir", ["-p"], "~/.ssh")]).rules == {"command.writes_ssh"}
	data.bailiff._classes_of("writes", "/home/ana/.foo") == {"startup"}
}

test_folders_count_by_their_name_alone if {
	_written("a/.husky/_/pre-push") == {"command.writes_startup"}
	_written(".clinerules/x.md") == {"command.changes_own_settings"}
	_written(".husky") == set()
}

test_copies_of_credentials_are_credentials if {
	every path in ["~/.netrc.bak", "~/.vault-token.gz", "app/.env~", "~/.pgpass.1", "/root/.npmrc.old"] {
		_paths([reading("cat", path)]).rules == {"command.reads_credentials"}
	}
	every path in ["notes.md.bak", ".env.example", "app/.env.example.gz"] {
		_paths([reading("cat", path)]).rules == set()
	}
}

test_names_that_no_table_has_are_what_the_tables_say_of_their_folder if {
	folders := ["", "/", "/etc/", "/var/log/", "/home/", "/home/ana/.config/x/", "/root/", "~/.ssh/", "a/.git/hooks/", "/dev/"]
	bases := ["x", "x.key", "a.rego.md", "x.bak", "hosts", "pre-push", ".env", "root", "~ana", "*.x"]
	every folder in folders {
		every base in bases {
			path := concat("", [folder, base])
			data.bailiff._named_as("reads", path) == data.bailiff._named_fully("reads", path)
			data.bailiff._named_as("writes", path) == data.bailiff._named_fully("writes", path)
		}
	}
}
