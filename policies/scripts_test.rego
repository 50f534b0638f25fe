package bailiff_test

_script(program_name, text_of) := _found([call(program_name, [], [text_of, "x"])])

test_scripts_are_looked_into_for_files_and_programs if {
	_script("awk", "{print > \"/etc/passwd\"}") == {"command.changes_accounts"}
	_script("awk", "BEGIN {while ((getline l < \"/etc/shadow\") > 0) print l}") == {
		"command.changes_accounts", "command.reads_credentials",
	}
	_script("sed", "w /etc/cron.d/x") == {"command.writes_startup"}
	_script("sed", "s/.*/id/e") == {"command.runs_inline_program"}
	_script("vim", ":!id") == {"command.runs_inline_program"}
	_found([call("find", [], [".", "-fprint", "~/.bashrc"])]) == {"command.writes_startup"}
}

test_ordinary_scripts_are_not_found if {
	_script("awk", "{s += $2} END {print s}") == set()
	_script("awk", "$1 > \"a\" {print > \"out.txt\"}") == set()
	_script("sed", "s/some/there/") == set()
	_script("sed", "s/a/b/g") == set()
	_script("vim", "+12") == set()
}

test_files_in_scripts_are_named if {
	_told([call("awk", [], ["{print > \"/etc/passwd\"}"])]) == {"command.changes_accounts: /etc/passwd"}
	_told([call("awk", [], ["{print > \"out.txt\"}"])]) == set()
	_told([call("sed", [], ["w /etc/cron.d/x"])]) == {"command.writes_startup: /etc/cron.d/x"}
	_told([call("sed", [], ["s/a/b/"])]) == set()
	_told([call("find", [], [".", "-fprint", "~/.bashrc"])]) == {"command.writes_startup: ~/.bashrc"}
	_told([call("vim", [], ["+w ~/.ssh/authorized_keys"])]) == {"command.writes_ssh: ~/.ssh/authorized_keys"}
	data.bailiff._quoted_after(`>\s*"([^"]+)"`, "{print > \"a\"; print > \"b\"}") == {"a", "b"}
}
