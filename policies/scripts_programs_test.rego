package bailiff_test

test_programs_in_scripts_are_found if {
	_told([call("sed", [], ["s/.*/id/e"])]) == {"command.runs_inline_program: sed s/.*/id/e"}
	_told([call("sed", [], ["s/a/b/gp"])]) == set()
	_told([call("vim", [], [":!id"])]) == {"command.runs_inline_program: vim :!id"}
	_told([call("vim", [], ["+12"])]) == set()
	_told([call("vim", [], [":py import os"])]) == {"command.runs_inline_program: vim ':py import os'"}
	_told([call("awk", [], ["BEGIN {(\"id\") | getline x}"])]) == {
		"command.runs_inline_program: awk 'BEGIN {(\"id\") | getline x}'",
	}
	_told([call("less", [], ["+!id"])]) == {"command.runs_inline_program: less +!id"}
	_told([call("less", [], ["+G", "a.log"])]) == set()
}
