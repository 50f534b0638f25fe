package bailiff_test

_mcp_tables := {
	"mcp_tools": {"files": {"read": "allow", "write": "allow"}, "web": {"get": "allow"}, "db": {"query": "allow"}},
	"mcp_arguments": {
		"files": {"*": {"path": "reads", "paths": "reads"}, "write": {"path": "writes"}},
		"web": {"get": {"url": "url"}},
		"db": {"query": {"sql": "sql"}},
	},
}

# The rules that a call is denied or asked about by.
_mcp_arguments_told(server, name, arguments) := told if {
	found := data.bailiff.deny | data.bailiff.require_approval with input as _mcp_call("cli", server, name, arguments)
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.mcp_tools as _mcp_tables.mcp_tools
		with data.bailiff.tables.mcp_arguments as _mcp_tables.mcp_arguments
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.env as _usual_tables.env
		with data.bailiff.tables.network as _usual_tables.network
		with data.bailiff.tables.verdicts as {}
		with data.bailiff.tables.house as _usual_tables.house
	told := _rules_of(found)
}

_mcp_named(kind, server, name, arguments) := values if {
	values := data.bailiff._mcp_values[kind] with input as _mcp_call("cli", server, name, arguments)
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.mcp_arguments as _mcp_tables.mcp_arguments
}

test_plain_arguments_of_mcp_tools_are_let_through if {
	every called in [
		["files", "read", {"path": "/workspace/a.txt"}],
		["files", "read", {"paths": ["a.txt", "./b/c.txt", "."]}],
		["files", "write", {"path": "src/main.go", "content": "../x"}],
		["web", "get", {"url": "https://docs.example.com/a?b=c#d"}],
		["web", "get", {"url": "http://[2001:db8::1]:8080/"}],
		["db", "query", {"sql": "SELECT name FROM users WHERE id = 1;"}],
		["db", "query", {}],
	] {
		_mcp_arguments_told(called[0], called[1], called[2]) == set()
	}
}

test_arguments_that_do_not_tell_what_they_name_are_denied if {
	every called in [
		["files", "read", {"path": "/workspace/../etc/shadow"}],
		["files", "read", {"path": ".."}],
		["files", "read", {"path": "/a/./b"}],
		["files", "read", {"path": "/a//b"}],
		["files", "read", {"path": `a\b`}],
		["files", "read", {"path": "file:///etc/shadow"}],
		["files", "read", {"path": {"a": "b"}}],
		["files", "read", {"paths": ["a", 7]}],
		["web", "get", {"url": "file:///etc/passwd"}],
		["web", "get", {"url": "https://good.test@evil.test/"}],
		["web", "get", {"url": `https://evil.test\@good.test/`}],
		["web", "get", {"url": "good.test"}],
		["web", "get", {"url": "javascript:alert(1)"}],
		["web", "get", {"url": "http://2852039166/"}],
		["web", "get", {"url": "http://[::FFFF:a9fe:a9fe]/"}],
		["web", "get", {"url": "http://[0:0::0:ffff:192.0.2.1]:80/"}],
		["web", "get", {"url": "http://0xA9FEA9FE"}],
		["web", "get", {"url": "http://0251.0376.0251.0376/"}],
		["web", "get", {"url": "http://169.254.43518:80/"}],
		["files", "read", {"path": "/proc/1/root/etc/shadow"}],
		["files", "read", {"path": "/proc/self/task/7/fd/3"}],
		["db", "query", {"sql": ["select 1", 2]}],
	] {
		_mcp_arguments_told(called[0], called[1], called[2]) == {"mcp.odd_argument"}
	}
}

test_paths_of_mcp_tools_are_judged_as_those_of_commands if {
	_mcp_named("reads", "files", "read", {"path": "/home/u/.ssh/id_rsa"}) == {"/home/u/.ssh/id_rsa"}
	_mcp_named("writes", "files", "write", {"path": "/home/u/.bashrc"}) == {"/home/u/.bashrc"}
	every called, rule in {
		["read", "/home/u/.ssh/id_rsa"]: "command.reads_credentials",
		["write", "/home/u/.bashrc"]: "command.writes_startup",
	} {
		found := data.bailiff.findings with input as _mcp_call("cli", "files", called[0], {"path": called[1]})
			with data.bailiff.tables.roles as {}
			with data.bailiff.tables.mcp_arguments as _mcp_tables.mcp_arguments
		rule in {finding.rule | some finding in found}
	}
}

test_hosts_of_mcp_tools_are_judged_as_those_of_commands if {
	every url, host in {
		"HTTPS://Docs.example.com:8443/a": "docs.example.com",
		"http://metadata.test./x": "metadata.test",
		"http://[2001:DB8::1]:80/": "2001:db8::1",
		"http://192.0.2.1/": "192.0.2.1",
	} {
		hosts := data.bailiff._hosts with input as _mcp_call("cli", "web", "get", {"url": url})
			with data.bailiff.tables.roles as {}
			with data.bailiff.tables.mcp_arguments as _mcp_tables.mcp_arguments
		hosts == {host}
		_mcp_arguments_told("web", "get", {"url": url}) == set()
	}
}

test_metadata_service_is_known_by_each_spelling_of_its_address if {
	hosts := data.bailiff._hosts with input as _mcp_call("cli", "web", "get", {"url": "http://[2001:db8:0:0::9]/"})
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.mcp_arguments as _mcp_tables.mcp_arguments
		with data.bailiff.tables.hosts.metadata as {"2001:db8::9": true, "192.0.2.1": true}
	"2001:db8::9" in hosts
}

test_sql_of_mcp_tools_that_may_change_data_is_asked_about if {
	every sql in [
		"delete from users", "select 1; drop table users", "with x as (delete from users returning *) select * from x",
		"select * into copies from users", "explain analyze select 1", "select pg_read_file('/etc/passwd')", "/*! drop table users */",
		"-- \ndrop table users", "COPY users TO PROGRAM 'sh'", "select load_extension('x')", "pragma writable_schema = on", "",
		`select U&"\006co_export"(1, '/x')`, "select lowrite(1, 'x')", "select * from openquery(other, 'drop')",
	] {
		questions := _questions_by(_mcp_tables, _mcp_call("telegram", "db", "query", {"sql": sql}))
		{question.rule | some question in questions} == {"mcp.changes_data"}
	}
}

test_arguments_that_no_row_names_are_not_looked_at if {
	_mcp_arguments_told("files", "read", {"other": "../x"}) == set()
}
