package bailiff_test

_in_python(calls) := _told_of(found) if {
	found := data.bailiff._examined.python | data.bailiff._examined.paths with input as request("cli", calls)
}

test_destruction_is_denied_in_a_sandbox_too if {
	"command.destroys_system" in _program_found({"calls": ["shutil.rmtree"], "writes": ["~"]}).rules
	_verdict_at("sandbox", _usual_tables.verdicts, {"rule": "command.destroys_system"}) == "deny"
}

test_programs_that_delete_are_found if {
	_program_found({"calls": ["shutil.rmtree"], "writes": ["/usr"]}).told == {
		"command.deletes_recursively: ",
		"command.destroys_system: /usr",
		"command.writes_system: /usr",
	}
	_program_found({"calls": ["shutil.rmtree"], "writes": ["build"]}).told == {"command.deletes_recursively: "}
	_program_found({"calls": ["os.remove"], "writes": ["a.txt"]}).told == set()
	_program_found({"calls": ["os.remove", "glob.glob"]}).told == {"command.deletes_by_pattern: "}
	_program_found({"calls": ["os.unlink", "os.walk"]}).told == {"command.deletes_by_pattern: "}
	_program_found({"calls": ["glob.glob"]}).told == set()
}

test_python_of_a_shell_text_changes_no_system_folder if {
	_in_python([object.union(call("python3", ["-c"], ["…"]), {"writes": ["/etc"]})]).told == {
		"command.destroys_system: /etc",
		"command.writes_system: /etc",
	}
	_in_python([object.union(call("python3", ["-c"], ["…"]), {"writes": ["~"]})]).told == {"command.destroys_system: ~"}
	_in_python([object.union(call("python3", ["-c"], ["…"]), {"writes": ["out.txt"]})]).told == set()
}

test_a_listing_tells_what_is_deleted_only_where_no_name_does if {
	_program_found({"calls": ["os.listdir", "os.remove"], "loses": []}).told == {"command.deletes_by_pattern: "}
	_program_found({"calls": ["os.listdir", "os.remove"], "loses": ["x.tmp"]}).told == set()
	_program_found({"calls": ["pathlib.Path.rglob", "pathlib.Path.unlink"]}).told == {"command.deletes_by_pattern: "}
}
