package bailiff_test

test_destruction_is_denied_in_a_sandbox_too if {
	answer := usually(program("telegram", {"calls": ["shutil.rmtree"], "writes": ["~"]}))
	answer.outcome == "deny"
}

test_programs_that_delete_are_found if {
	_said_in({"calls": ["shutil.rmtree"], "writes": ["/usr"]}) == {
		"command.deletes_recursively: ",
		"command.destroys_system: /usr",
		"command.writes_system: /usr",
	}
	_said_in({"calls": ["shutil.rmtree"], "writes": ["build"]}) == {"command.deletes_recursively: "}
	_said_in({"calls": ["os.remove"], "writes": ["a.txt"]}) == set()
	_said_in({"calls": ["os.remove", "glob.glob"]}) == {"command.deletes_by_pattern: "}
	_said_in({"calls": ["os.unlink", "os.walk"]}) == {"command.deletes_by_pattern: "}
	_said_in({"calls": ["glob.glob"]}) == set()
}

test_python_of_a_shell_text_changes_no_system_folder if {
	_told([object.union(call("python3", ["-c"], ["…"]), {"writes": ["/etc"]})]) == {
		"command.destroys_system: /etc",
		"command.writes_system: /etc",
	}
	_told([object.union(call("python3", ["-c"], ["…"]), {"writes": ["~"]})]) == {"command.destroys_system: ~"}
	_told([object.union(call("python3", ["-c"], ["…"]), {"writes": ["out.txt"]})]) == set()
}

test_a_listing_tells_what_is_deleted_only_where_no_name_does if {
	_said_in({"calls": ["os.listdir", "os.remove"], "loses": []}) == {"command.deletes_by_pattern: "}
	_said_in({"calls": ["os.listdir", "os.remove"], "loses": ["x.tmp"]}) == set()
	_said_in({"calls": ["pathlib.Path.rglob", "pathlib.Path.unlink"]}) == {"command.deletes_by_pattern: "}
}
