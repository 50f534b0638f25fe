package bailiff_test

script(program_name, text_of) := found([call(program_name, [], [text_of, "x"])])

test_scripts_are_looked_into_for_files_and_programs if {
	script("awk", "{print > \"/etc/passwd\"}") == {"command.changes_accounts"}
	script("awk", "BEGIN {while ((getline l < \"/etc/shadow\") > 0) print l}") == {
		"command.changes_accounts", "command.reads_credentials",
	}
	script("sed", "w /etc/cron.d/x") == {"command.writes_startup"}
	script("sed", "s/.*/id/e") == {"command.runs_inline_program"}
	script("vim", ":!id") == {"command.runs_inline_program"}
	found([call("find", [], [".", "-fprint", "~/.bashrc"])]) == {"command.writes_startup"}
}

test_ordinary_scripts_are_not_found if {
	script("awk", "{s += $2} END {print s}") == set()
	script("awk", "$1 > \"a\" {print > \"out.txt\"}") == set()
	script("sed", "s/some/there/") == set()
	script("sed", "s/a/b/g") == set()
	script("vim", "+12") == set()
}
