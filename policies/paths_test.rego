package bailiff_test

_read(path) := _found([reading("cat", path)])

_written(path) := _found([writing("tee", [], path)])

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
	_found([reading("ls", "~/.ssh")]) == set()
	_found([reading("test", ".env")]) == set()
	_found([reading("ls", ".env"), reading("cat", ".env")]) == {"command.reads_credentials"}
}

test_paths_are_the_match if {
	_told([reading("cat", "~/.ssh/id_rsa")]) == {"command.reads_credentials: ~/.ssh/id_rsa"}
	_told([reading("cat", "/home/ana/.aws/credentials")]) == {"command.reads_credentials: /home/ana/.aws/credentials"}
	_told([writing("tee", [], "/etc/hosts")]) == {"command.writes_system: /etc/hosts"}
	_told([writing("tee", [], "policies/house.rego")]) == {"command.changes_own_settings: policies/house.rego"}
	_told([writing("tee", [], "src/house.rego")]) == set()
	_told([object.union(call("cp", [], ["evil.rego", "policies"]), {"reads": ["evil.rego"], "writes": ["policies"]})]) == {
		"command.changes_own_settings: policies",
	}
	_told([object.union(call("cp", [], ["notes.md", "policies"]), {"reads": ["notes.md"], "writes": ["policies"]})]) == set()
	_told([reading("stat", ".env")]) == set()
	_told([reading("cat", "README.md")]) == set()
}
