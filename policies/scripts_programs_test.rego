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

test_compressors_are_no_programs_of_their_own if {
	_found([call("tar", ["-I"], ["zstd -19", "-cf", "x"])]) == set()
	_found([call("tar", ["--use-compress-program=pigz"], [])]) == set()
	_found([call("tar", ["--use-comp=./x"], [])]) == {"command.runs_inline_program"}
	_found([call("tar", ["-I"], ["./x"])]) == {"command.runs_inline_program"}
}

test_settings_of_wget_that_name_programs if {
	_found([call("wget", ["-e"], ["use_askpass=./x"])]) == {"command.runs_inline_program"}
	_found([call("wget", ["-e"], ["robots=off"])]) == set()
}
