package bailiff_test

# What is found of the paths that calls read and write.
_paths(calls) := _told_of(found) if {
	found := data.bailiff._examined.paths | data.bailiff._examined.brings with input as request("cli", calls)
}

_read(path) := _paths([reading("cat", path)]).rules

_written(path) := _paths([writing("tee", [], path)]).rules

test_credentials_are_found_however_a_home_is_spelt if {
	every path in [
		"~/.ssh/id_rsa", "/root/.ssh/id_rsa", "/home/ana/.ssh/id_rsa", "/Users/ana/.ssh/id_rsa", "~ana/.ssh/id_rsa",
		"/etc/shadow", "~/.aws/credentials", "/workspace/.env", ".env", "deploy/server.key", "/run/secrets/db",
	] {
		_read(path) == {"command.reads_credentials"}
	}
}

test_what_is_public_is_free if {
	every path in [
		"/etc/hosts", "/etc/passwd", "~/.ssh/config", "~/.ssh/known_hosts", "~/.ssh/id_rsa.pub", ".env.example",
		"src/main.go", "/home/ana/project/main.go", "~", "README.md", "/", "",
	] {
		_read(path) == set()
	}
}

test_looking_at_a_name_reads_nothing if {
	_paths([reading("ls", "~/.ssh")]).rules == set()
	_paths([reading("test", ".env")]).rules == set()
	_paths([reading("ls", ".env"), reading("cat", ".env")]).rules == {"command.reads_credentials"}
}

test_paths_are_the_match if {
	_paths([reading("cat", "~/.ssh/id_rsa")]).told == {"command.reads_credentials: ~/.ssh/id_rsa"}
	_paths([reading("cat", "/home/ana/.aws/credentials")]).told == {"command.reads_credentials: /home/ana/.aws/credentials"}
	_paths([writing("tee", [], "/etc/hosts")]).told == {"command.writes_system: /etc/hosts"}
	_paths([writing("tee", [], "policies/house.rego")]).told == {"command.changes_own_settings: policies/house.rego"}
	_paths([writing("tee", [], "src/house.rego")]).told == set()
	_paths([object.union(call("cp", [], ["evil.rego", "policies"]), {"reads": ["evil.rego"], "writes": ["policies"]})]).told == {
		"command.changes_own_settings: policies",
	}
	_paths([object.union(call("cp", [], ["notes.md", "policies"]), {"reads": ["notes.md"], "writes": ["policies"]})]).told == set()
	_paths([reading("stat", ".env")]).told == set()
	_paths([reading("cat", "README.md")]).told == set()
}

# What is found where programs are trusted to lie, after a call of chmod with these words and what else stands beside it.
_let_run(words, more) := _told_of(found).rules if {
	found := data.bailiff._examined.paths with input as object.union(
		request("cli", array.concat([object.union(call("chmod", [], words), {"writes": ["/usr/local/bin/a"]})], more)),
		{"command": {"code": {"writes": []}}},
	)
}

test_a_trusted_program_may_be_let_run if {
	every mode in ["+x", "a+x", "ug+x"] {
		_let_run([mode, "/usr/local/bin/a"], []) == set()
	}
}

test_a_trusted_program_is_not_changed_by_that if {
	every mode in ["+w", "u+sx", "777", "755", "a=rwx", "-x", "+x,o+w"] {
		_let_run([mode, "/usr/local/bin/a"], []) == {"command.writes_system"}
	}
	_let_run(["+x", "/usr/local/bin/a"], [writing("tee", [], "/usr/local/bin/a")]) == {"command.writes_system"}
	every path in ["/etc/update-motd.d/a", "/usr/local/bin/a*", "/usr/local/bin/..", "/usr/local/lib/a"] {
		"command.writes_system" in _paths([object.union(call("chmod", [], ["+x", path]), {"writes": [path]})]).rules
	}
	"command.writes_system" in _told_of(data.bailiff._examined.paths).rules with input as object.union(
		request("cli", [object.union(call("chmod", [], ["+x", "/usr/local/bin/a"]), {"writes": ["/usr/local/bin/a"]})]),
		{"command": {"code": {"writes": ["/usr/local/bin/a"]}}},
	)
}
