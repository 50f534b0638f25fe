package bailiff_test

# What is found of shells, memory and macros.
_escapes(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.interprets,
		data.bailiff._examined.macros,
		data.bailiff._examined.transcripts,
		data.bailiff._examined.mavens,
		data.bailiff._examined.paths,
		{finding | "bangs" in data.bailiff._aspects; some finding in data.bailiff._examined.bangs},
	}) with input as request("cli", calls)
}

_through(starter, argv) := object.union(
	call(argv[0], [], array.slice(argv, 1, count(argv))),
	{"wrappers": [starter]},
)

test_a_shell_out_of_a_program_is_found if {
	_escapes([call("strace", [], ["sh"]), _through("strace", ["sh"])]).rules == {"command.escapes_to_shell"}
	_escapes([_through("find", ["/bin/sh", "-p"])]).rules == set() # a program of another name
	_escapes([object.union(_through("find", ["/bin/sh", "-i"]), {"program": "sh"})]).rules == {"command.escapes_to_shell"}
}

test_a_shell_with_something_to_do_is_no_escape if {
	_escapes([call("bash", [], [])]).rules == set()
	_escapes([_through("tmux", ["bash"])]).rules == set()
	_escapes([_through("xargs", ["sh", "-c"])]).rules == set()
	_escapes([_through("timeout", ["bash", "build.sh"])]).rules == set()
	_escapes([object.union(call("cat", [], ["a.sh"]), {"pipes_to": "bash"}), _through("timeout", ["bash"])]).rules == set()
}

test_words_of_a_pager_are_found if {
	_escapes([object.union(call("sh", [], []), {"argv": ["!/bin/sh"]})]).rules == {"command.escapes_to_shell"}
	_escapes([object.union(call("sh", [], []), {"argv": ["^K!/bin/sh"]})]).rules == {"command.escapes_to_shell"}
	_escapes([object.union(call("string", [], []), {"argv": ["!string"]})]).rules == set()
}

test_the_memory_of_processes_is_found if {
	_escapes([reading("cat", "/proc/4711/mem")]).rules == {"command.reads_credentials", "command.reads_memory"}
	_escapes([reading("cat", "/proc/self/mem")]).rules == set()
	_escapes([reading("cat", "/proc/4711/status")]).rules == set()
}

test_plugins_by_their_coordinates_are_found if {
	_escapes([call("mvn", [], ["com.h:plugin:1.0:run"])]).rules == {"command.runs_downloaded"}
	_escapes([call("mvn", [], ["org.codehaus.mojo:versions-maven-plugin:2.1:set"])]).rules == set()
	_escapes([call("mvn", [], ["dependency:tree"])]).rules == set()
}

test_a_shell_behind_several_programs_is_found if {
	_escapes([object.union(call("sh", [], []), {"wrappers": ["watch", "exec"]})]).rules == {"command.escapes_to_shell"}
	_escapes([object.union(call("sh", [], []), {"wrappers": ["bash", "exec"]})]).rules == set()
}

test_a_shell_that_keeps_rights_is_found if {
	_escapes([call("bash", ["-p"], [])]).rules == {"command.gains_privilege"}
	_escapes([call("bash", ["--posix"], ["a.sh"])]).rules == set()
	_escapes([call("fish", ["-p"], ["a"])]).rules == set()
}

test_macros_that_run_something_are_found if {
	every word in ["%(id)", "%{lua:os.execute('id')}", "%{?x:%(id)}", "%{expand:x}", "%{load:x}"] {
		_escapes([call("rpm", ["--eval"], [word])]).rules == {"command.runs_inline_program"}
	}
	_escapes([call("rpmquery", ["--qf"], ["%{expr:1}"])]).rules == {"command.runs_inline_program"}
	_escapes([call("rpm", ["-q", "--qf"], ["%{NAME}\n", "bash"])]).rules == set()
}

test_a_shell_without_a_transcript_is_found if {
	_escapes([call("script", ["-q"], ["/dev/null"])]).rules == {"command.escapes_to_shell"}
	_escapes([call("script", ["-q", "-c"], ["/dev/null"])]).rules == set()
	_escapes([call("script", ["-q"], ["/dev/null", "pwd"])]).rules == set()
	_escapes([call("script", [], ["log"])]).rules == set()
}
