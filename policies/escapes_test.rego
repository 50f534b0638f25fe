package bailiff_test

_through(starter, argv) := object.union(
	call(argv[0], [], array.slice(argv, 1, count(argv))),
	{"wrappers": [starter]},
)

test_a_shell_out_of_a_program_is_found if {
	_found([call("strace", [], ["sh"]), _through("strace", ["sh"])]) == {"command.escapes_to_shell"}
	_found([_through("find", ["/bin/sh", "-p"])]) == set() # a program of another name
	_found([object.union(_through("find", ["/bin/sh", "-i"]), {"program": "sh"})]) == {"command.escapes_to_shell"}
}

test_a_shell_with_something_to_do_is_no_escape if {
	_found([call("bash", [], [])]) == set()
	_found([_through("tmux", ["bash"])]) == set()
	_found([_through("xargs", ["sh", "-c"])]) == set()
	_found([_through("timeout", ["bash", "build.sh"])]) == set()
	_found([object.union(call("cat", [], ["a.sh"]), {"pipes_to": "bash"}), _through("timeout", ["bash"])]) == set()
}

test_words_of_a_pager_are_found if {
	_found([object.union(call("sh", [], []), {"argv": ["!/bin/sh"]})]) == {"command.escapes_to_shell"}
	_found([object.union(call("sh", [], []), {"argv": ["^K!/bin/sh"]})]) == {"command.escapes_to_shell"}
	_found([object.union(call("string", [], []), {"argv": ["!string"]})]) == set()
}

test_the_memory_of_processes_is_found if {
	_found([reading("cat", "/proc/4711/mem")]) == {"command.reads_credentials", "command.reads_memory"}
	_found([reading("cat", "/proc/self/mem")]) == set()
	_found([reading("cat", "/proc/4711/status")]) == set()
}

test_plugins_by_their_coordinates_are_found if {
	_found([call("mvn", [], ["com.h:plugin:1.0:run"])]) == {"command.runs_downloaded"}
	_found([call("mvn", [], ["org.codehaus.mojo:versions-maven-plugin:2.1:set"])]) == set()
	_found([call("mvn", [], ["dependency:tree"])]) == set()
}

test_a_shell_behind_several_programs_is_found if {
	_found([object.union(call("sh", [], []), {"wrappers": ["watch", "exec"]})]) == {"command.escapes_to_shell"}
	_found([object.union(call("sh", [], []), {"wrappers": ["bash", "exec"]})]) == set()
}

test_a_shell_that_keeps_rights_is_found if {
	_found([call("bash", ["-p"], [])]) == {"command.gains_privilege"}
	_found([call("bash", ["--posix"], ["a.sh"])]) == set()
	_found([call("fish", ["-p"], ["a"])]) == set()
}

test_macros_that_run_something_are_found if {
	every word in ["%(id)", "%{lua:os.execute('id')}", "%{?x:%(id)}", "%{expand:x}", "%{load:x}"] {
		_found([call("rpm", ["--eval"], [word])]) == {"command.runs_inline_program"}
	}
	_found([call("rpmquery", ["--qf"], ["%{expr:1}"])]) == {"command.runs_inline_program"}
	_found([call("rpm", ["-q", "--qf"], ["%{NAME}\n", "bash"])]) == set()
}

test_a_shell_without_a_transcript_is_found if {
	_found([call("script", ["-q"], ["/dev/null"])]) == {"command.escapes_to_shell"}
	_found([call("script", ["-q", "-c"], ["/dev/null"])]) == set()
	_found([call("script", ["-q"], ["/dev/null", "pwd"])]) == set()
	_found([call("script", [], ["log"])]) == set()
}
