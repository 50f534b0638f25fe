package bailiff_test

# What is found in calls of clients of databases.
_data(calls) := _data_with(calls, {})

_data_with(calls, facts) := _told_of(found) if {
	found := data.bailiff._examined.queries | data.bailiff._examined.calls with input as _text_with(calls, facts)
}

_saying(program_name, statement) := {finding.rule | some finding in found} if {
	found := {finding |
		"queries" in data.bailiff._aspects
		some finding in data.bailiff._examined.queries
	} with input as _text_with([call(program_name, [], [])], {"text": statement})
}

test_statements_that_destroy_data if {
	every statement in [
		"DROP TABLE users",
		"truncate table users",
		"DELETE FROM users",
		"delete from users;",
		"FLUSHALL",
		"UPDATE users SET admin = true",
		"update users set admin = 1 where 1=1",
		"db['dropDatabase']()",
		"db.users.updateMany({}, {$set: {role: 'admin'}})",
		"db.users.remove( { } )",
	] {
		_saying("psql", statement) == {"command.destroys_data"}
		_saying("grep", statement) == set()
	}
	_saying("psql", "DELETE FROM users WHERE id = 1") == set()
	_saying("psql", "UPDATE users SET admin = true WHERE id = 1") == set()
	_saying("psql", "SELECT * FROM drops") == set()
	_saying("psql", "db.users.updateMany({_id: 1}, {$set: {seen: true}})") == set()
}

test_statements_are_found_in_words_texts_and_programs if {
	_data([call("psql", ["-c"], ["drop table users"])]).told == {"command.destroys_data: psql -c 'drop table users'"}
	_data([call("psql", ["-c"], ["select 1"])]).told == set()
	_data_with([call("psql", [], [])], {"text": "psql <<E\ntruncate users\nE"}).told == {"command.destroys_data: "}
	_data([call("mysql", ["-e"], ["system id"])]).told == {"command.runs_inline_program: mysql -e 'system id'"}
	_data([call("sqlite3", [], ["a.db", ".shell id"])]).told == {"command.runs_inline_program: sqlite3 a.db '.shell id'"}
	_data([call("sqlite3", [], ["a.db", ".once |id"])]).told == {"command.runs_inline_program: sqlite3 a.db '.once |id'"}
	_data([call("sqlite3", [], ["a.db", ".once x.csv"])]).told == set()
	_data([call("redis-cli", [], ["FLUSHALL"])]).told == {"command.destroys_data: redis-cli FLUSHALL"}
	_program_found({"imports": ["sqlite3"], "strings": ["DROP TABLE users"]}).told == {"command.destroys_data: "}
	_program_found({"imports": ["json"], "strings": ["DROP TABLE users"]}).told == set()
	data.bailiff._statements("Drop /* all */ Table users; delete from a where id = 1") == {"drop   table"}
}

test_sql_that_grants_is_found if {
	every statement in [
		"GRANT ALL ON db.* TO u", "grant select, insert on t to public", "grant admin to u", "CREATE USER u", "alter role u superuser",
	] {
		_saying("psql", statement) == {"command.grants_access"}
	}
	every statement in ["SELECT * FROM grants", "select grant_to from t", "REVOKE ALL ON t FROM u", "create table users (id int)"] {
		_saying("psql", statement) == set()
	}
}

test_libraries_that_a_client_loads_are_found if {
	every statement in [
		"select load_extension('./x')", "select fts3_tokenizer('a','b')", ".load ./x", "LOAD './x.so'", "select 1; install httpfs",
	] {
		_data([call("sqlite3", [], ["a.db", statement])]).rules == {"command.preloads_library"}
	}
	every statement in ["select load from t", "select 1", ".loads x", "update t set load = 1 where id = 2"] {
		_data([call("sqlite3", [], ["a.db", statement])]).rules == set()
	}
}
