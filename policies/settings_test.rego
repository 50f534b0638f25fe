package bailiff_test

_setting(said) := _found_with([], {"settings": [said]})

test_words_of_make_are_settings if {
	_found([call("make", [], ["CC=/tmp/cc"])]) == {"command.preloads_library"}
	_found([call("make", [], ["SHELL=/tmp/sh"])]) == {"command.preloads_library"}
	_found([call("make", [], ["CC=clang", "SHELL=/bin/bash", "test"])]) == set()
}

test_forgetting_what_was_typed_is_found if {
	_setting("HISTFILE=/dev/null") == {"command.erases_traces"}
	_found([call("unset", [], ["HISTFILE"])]) == {"command.erases_traces"}
	_found([call("set", ["+o"], ["history"])]) == {"command.erases_traces"}
	_found([call("unset", [], ["FOO"])]) == set()
}

test_settings_of_programs_count if {
	_found_in({"settings": ["PATH=/tmp/x:$PATH"]}) == {"command.preloads_library"}
	_found_in({"settings": ["PYTHONPATH=src"]}) == set()
}

test_preloading_is_found_before_and_in_a_call if {
	_found([object.union(call("ls", [], []), {"assigns": ["LD_PRELOAD"]})]) == {"command.preloads_library"}
	_found([call("export", [], ["LD_PRELOAD=x.so"])]) == {"command.preloads_library"}
	_found([object.union(call("make", [], []), {"assigns": ["CFLAGS"]})]) == set()
}

test_settings_are_the_match if {
	_told_with([], {"settings": ["PATH=/tmp/x:$PATH"]}) == {"command.preloads_library: "}
	_told_with([], {"settings": ["PATH=~/bin:$PATH"]}) == set()
	_told_with([], {"settings": ["HISTSIZE=0"]}) == {"command.erases_traces: HISTSIZE=0"}
	_told([call("make", [], ["CC=/tmp/cc"])]) == {"command.preloads_library: CC=/tmp/cc"}
	_told([call("make", [], ["SHELL=/tmp/sh", "CC=gcc"])]) == {"command.preloads_library: SHELL=/tmp/sh"}
	_told([call("unset", [], ["HISTFILE"])]) == {"command.erases_traces: unset HISTFILE"}
	_told([call("set", ["+o"], ["history"])]) == {"command.erases_traces: set +o history"}
	_told([object.union(call("ls", [], []), {"assigns": ["LD_PRELOAD"]})]) == {"command.preloads_library: "}
}

test_home_of_a_login_shell_is_asked_about if {
	_found([object.union(call("bash", ["-l"], []), {"assigns": ["HOME"]})]) == {"command.preloads_library"}
	_found([object.union(call("bash", ["-c"], ["ls"]), {"assigns": ["HOME"]})]) == set()
	_found([object.union(call("npm", ["-l"], []), {"assigns": ["HOME"]})]) == set()
}
