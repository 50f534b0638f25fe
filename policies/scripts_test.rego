package bailiff_test

# What is found in scripts of small languages.
_scripts(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.awks,
		data.bailiff._examined.searches,
		data.bailiff._examined.editors,
		data.bailiff._examined.interprets,
	}) with input as request("cli", calls)
}

_script(program_name, text_of) := _scripts([call(program_name, [], [text_of, "x"])]).rules

test_scripts_are_looked_into_for_files_and_programs if {
	_script("awk", "{print > \"/etc/passwd\"}") == {"command.changes_accounts"}
	_script("awk", "BEGIN {while ((getline l < \"/etc/shadow\") > 0) print l}") == {
		"command.changes_accounts", "command.reads_credentials",
	}
	_script("vim", ":!id") == {"command.runs_inline_program"}
	_scripts([call("find", [], [".", "-fprint", "~/.bashrc"])]).rules == {"command.writes_startup"}
}

test_ordinary_scripts_are_not_found if {
	_script("awk", "{s += $2} END {print s}") == set()
	_script("awk", "$1 > \"a\" {print > \"out.txt\"}") == set()
	_script("vim", "+12") == set()
}

test_files_in_scripts_are_named if {
	_scripts([call("awk", [], ["{print > \"/etc/passwd\"}"])]).told == {"command.changes_accounts: /etc/passwd"}
	_scripts([call("awk", [], ["{print > \"out.txt\"}"])]).told == set()
	_scripts([call("find", [], [".", "-fprint", "~/.bashrc"])]).told == {"command.writes_startup: ~/.bashrc"}
	_scripts([call("vim", [], ["+w ~/.ssh/authorized_keys"])]).told == {"command.writes_ssh: ~/.ssh/authorized_keys"}
	data.bailiff._quoted_after(`>\s*"([^"]+)"`, "{print > \"a\"; print > \"b\"}") == {"a", "b"}
}

test_an_archive_that_the_text_makes_and_runs_was_not_read if {
	made := object.union(call("zip", ["-q"], ["x.zip", "a.py"]), {"writes": ["~/project/x.zip"]})
	_scripts([made, call("python3", [], ["x.zip"])]).rules == {"command.runs_inline_program"}
	_scripts([call("python3", [], ["x.zip"])]).rules == set()
	_scripts([made, call("python3", [], ["a.py"])]).rules == set()
}
