package bailiff_test

read(path) := found([reading("cat", path)])

written(path) := found([writing("tee", [], path)])

test_credentials_are_found_however_a_home_is_spelt if {
	every path in [
		"~/.ssh/id_rsa", "/root/.ssh/id_rsa", "/home/ana/.ssh/id_rsa", "/Users/ana/.ssh/id_rsa", "~ana/.ssh/id_rsa",
		"/etc/shadow", "~/.aws/credentials", "/workspace/.env", ".env", "deploy/server.key", "/run/secrets/db",
	] {
		read(path) == {"command.reads_credentials"}
	}
}

test_what_is_public_is_free if {
	every path in [
		"/etc/hosts", "/etc/passwd", "~/.ssh/config", "~/.ssh/known_hosts", "~/.ssh/id_rsa.pub", ".env.example",
		"src/main.go", "/home/ana/project/main.go", "~", "README.md", "/", "",
	] {
		read(path) == set()
	}
}

test_patterns_mean_what_they_match if {
	read("/etc/sh?dow") == {"command.reads_credentials"}
	read("~/.s*/id_rsa") == {"command.reads_credentials"}
	read("/proc/*/environ") == {"command.reads_credentials"}
	read("/etc/*.conf") == set()
	read("*.go") == set()
}

test_looking_at_a_name_reads_nothing if {
	found([reading("ls", "~/.ssh")]) == set()
	found([reading("test", ".env")]) == set()
	found([reading("ls", ".env"), reading("cat", ".env")]) == {"command.reads_credentials"}
}

test_deepest_entry_counts if {
	written("/etc/hosts") == {"command.writes_system"}
	written("/etc/cron.d/job") == {"command.writes_startup"}
	written("/etc/ssh/sshd_config") == {"command.writes_ssh"}
	written("/etc/sudoers.d/eve") == {"command.changes_accounts"}
	written("/var/tmp/x") == set()
	written("/var/log/syslog") == {"command.erases_traces"}
	written("/dev/null") == set()
	written("/dev/sda") == {"command.destroys_system"}
	written("~/.bashrc") == {"command.writes_startup"}
	written("~/.ssh/known_hosts") == set()
	written("~/.hermes/config.yaml") == {"command.changes_own_settings"}
}

test_names_count_wherever_they_lie if {
	written("/workspace/bailiff.yaml") == {"command.changes_own_settings"}
	written("project/.claude/settings.json") == {"command.changes_own_settings"}
	written("project/.claude/agents/helper.md") == {"command.changes_own_settings"}
	written("project/.codex/hooks.json") == {"command.changes_own_settings"}
	written("project/.git/hooks/pre-push") == {"command.writes_startup"}
	written("project/settings.json") == set()
	written("src/hosts.go") == set()
}
