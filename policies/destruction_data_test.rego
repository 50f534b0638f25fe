package bailiff_test

_saying(program_name, statement) := rules_of if {
	asked := object.union(request("cli", [call(program_name, [], [])]), {"command": {"text": statement}})
	findings := data.bailiff.findings with input as asked
	rules_of := {finding.rule | some finding in findings}
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
	] {
		_saying("psql", statement) == {"command.destroys_data"}
		_saying("grep", statement) == set()
	}
	_saying("psql", "DELETE FROM users WHERE id = 1") == set()
	_saying("psql", "UPDATE users SET admin = true WHERE id = 1") == set()
	_saying("psql", "SELECT * FROM drops") == set()
}

test_statements_are_found_in_words_texts_and_programs if {
	_told([call("psql", ["-c"], ["drop table users"])]) == {"command.destroys_data: psql -c 'drop table users'"}
	_told([call("psql", ["-c"], ["select 1"])]) == set()
	_told_with([call("psql", [], [])], {"text": "psql <<E\ntruncate users\nE"}) == {"command.destroys_data: "}
	_told([call("mysql", ["-e"], ["system id"])]) == {"command.runs_inline_program: mysql -e 'system id'"}
	_told([call("sqlite3", [], ["a.db", ".shell id"])]) == {"command.runs_inline_program: sqlite3 a.db '.shell id'"}
	_told([call("sqlite3", [], ["a.db", ".once |id"])]) == {"command.runs_inline_program: sqlite3 a.db '.once |id'"}
	_told([call("sqlite3", [], ["a.db", ".once x.csv"])]) == set()
	_told([call("redis-cli", [], ["FLUSHALL"])]) == {"command.destroys_data: redis-cli FLUSHALL"}
	_said_in({"imports": ["sqlite3"], "strings": ["DROP TABLE users"]}) == {"command.destroys_data: "}
	_said_in({"imports": ["json"], "strings": ["DROP TABLE users"]}) == set()
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
