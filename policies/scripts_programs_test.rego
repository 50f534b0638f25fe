package bailiff_test

# What small languages are found to start.
_started(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.editors,
		data.bailiff._examined.awks,
		data.bailiff._examined.packs,
		data.bailiff._examined.uploads,
		data.bailiff._examined.pagers,
		data.bailiff._examined.calls,
	}) with input as request("cli", calls)
}

test_programs_in_scripts_are_found if {
	_started([call("vim", [], [":!id"])]).told == {"command.runs_inline_program: vim :!id"}
	_started([call("vim", [], ["+12"])]).told == set()
	_started([call("vim", [], [":py import os"])]).told == {"command.runs_inline_program: vim ':py import os'"}
	_started([call("awk", [], ["BEGIN {(\"id\") | getline x}"])]).told == {
		"command.runs_inline_program: awk 'BEGIN {(\"id\") | getline x}'",
	}
	_started([call("less", [], ["+!id"])]).told == {"command.runs_inline_program: less +!id"}
	_started([call("less", [], ["+G", "a.log"])]).told == set()
}

test_compressors_are_no_programs_of_their_own if {
	_started([call("tar", ["-I"], ["zstd -19", "-cf", "x"])]).rules == set()
	_started([call("tar", ["--use-compress-program=pigz"], [])]).rules == set()
	_started([call("tar", ["--use-comp=./x"], [])]).rules == {"command.runs_inline_program"}
	_started([call("tar", ["-I"], ["./x"])]).rules == {"command.runs_inline_program"}
}

test_settings_of_wget_that_name_programs if {
	_started([call("wget", ["-e"], ["use_askpass=./x"])]).rules == {"command.runs_inline_program"}
	_started([call("wget", ["-e"], ["robots=off"])]).rules == set()
}
