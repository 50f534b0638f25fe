package bailiff_test

# What is found of settings of programs.
_settings(calls) := _settings_with(calls, {})

_settings_with(calls, facts) := _told_of(found) if {
	found := union({
		data.bailiff._examined.settings,
		data.bailiff._examined.makes,
		data.bailiff._examined.interprets,
		data.bailiff._examined.exports,
		data.bailiff._examined.forgets,
		data.bailiff._examined.shell_options,
		data.bailiff._found_in_text,
	}) with input as _text_with(calls, facts)
}

_setting(said) := _settings_with([], {"settings": [said]}).rules

test_words_of_make_are_settings if {
	_settings([call("make", [], ["CC=/tmp/cc"])]).rules == {"command.preloads_library"}
	_settings([call("make", [], ["SHELL=/tmp/sh"])]).rules == {"command.preloads_library"}
	_settings([call("make", [], ["CC=clang", "SHELL=/bin/bash", "test"])]).rules == set()
}

test_forgetting_what_was_typed_is_found if {
	_setting("HISTFILE=/dev/null") == {"command.erases_traces"}
	_settings([call("unset", [], ["HISTFILE"])]).rules == {"command.erases_traces"}
	_settings([call("set", ["+o"], ["history"])]).rules == {"command.erases_traces"}
	_settings([call("unset", [], ["FOO"])]).rules == set()
}

test_settings_of_programs_count if {
	_set_by_program({"settings": ["PATH=/tmp/x:$PATH"]}).rules == {"command.preloads_library"}
	_set_by_program({"settings": ["PYTHONPATH=src"]}).rules == set()
}

_set_by_program(facts) := _told_of(found) if {
	found := data.bailiff._examined.settings with input as program("cli", facts)
}

test_preloading_is_found_before_and_in_a_call if {
	_settings([object.union(call("ls", [], []), {"assigns": ["LD_PRELOAD"]})]).rules == {"command.preloads_library"}
	_settings([call("export", [], ["LD_PRELOAD=x.so"])]).rules == {"command.preloads_library"}
	_settings([object.union(call("make", [], []), {"assigns": ["CFLAGS"]})]).rules == set()
}

test_settings_are_the_match if {
	_settings_with([], {"settings": ["PATH=/tmp/x:$PATH"]}).told == {"command.preloads_library: "}
	_settings_with([], {"settings": ["PATH=~/bin:$PATH"]}).told == set()
	_settings_with([], {"settings": ["HISTSIZE=0"]}).told == {"command.erases_traces: HISTSIZE=0"}
	_settings([call("make", [], ["CC=/tmp/cc"])]).told == {"command.preloads_library: CC=/tmp/cc"}
	_settings([call("make", [], ["SHELL=/tmp/sh", "CC=gcc"])]).told == {"command.preloads_library: SHELL=/tmp/sh"}
	_settings([call("unset", [], ["HISTFILE"])]).told == {"command.erases_traces: unset HISTFILE"}
	_settings([call("set", ["+o"], ["history"])]).told == {"command.erases_traces: set +o history"}
	_settings([object.union(call("ls", [], []), {"assigns": ["LD_PRELOAD"]})]).told == {"command.preloads_library: "}
}

test_home_of_a_login_shell_is_asked_about if {
	_settings([object.union(call("bash", ["-l"], []), {"assigns": ["HOME"]})]).rules == {"command.preloads_library"}
	_settings([object.union(call("bash", ["-c"], ["ls"]), {"assigns": ["HOME"]})]).rules == set()
	_settings([object.union(call("npm", ["-l"], []), {"assigns": ["HOME"]})]).rules == set()
}

test_what_php_is_told_to_load_is_found if {
	every call_of_php in [
		call("php", ["-d"], ["extension=x.so", "a.php"]), call("php", ["-dauto_prepend_file=x.php"], ["a.php"]),
		call("php", ["-z"], ["x.so"]), call("php", ["-c"], ["p.ini", "a.php"]), call("php", ["--php-ini"], ["p.ini", "a.php"]),
	] {
		_settings_with([call_of_php], {"writes": ["p.ini"]}).rules == {"command.preloads_library"}
	}
	every call_of_php in [
		call("php", ["-d"], ["memory_limit=1G", "a.php"]), call("php", ["-c"], ["other.ini", "a.php"]), call("php", [], ["a.php", "-z"]),
	] {
		_settings_with([call_of_php], {"writes": ["p.ini"]}).rules == set()
	}
}

test_names_tell_what_a_program_does_with_a_value if {
	every said in [
		"UNHEARD_CONFIG_FILE=/tmp/x", "UNHEARD_PLUGINS=/tmp/x", "UNHEARD_PYTHON=/dev/shm/py",
		"UNHEARD_FLAGS=--plugin=/tmp/x", "UNHEARD_HOOK_PATH=/tmp/x",
	] {
		_given(said) == {"command.preloads_library"}
	}
	every said in [
		"UNHEARD_CONFIG=config/dev.toml", "UNHEARD_CACHE=/tmp/x", "UNHEARD_HOME=/tmp/x", "UNHEARD_FLAGS=-I/tmp/x", "HOME=/tmp/x",
		"UNHEARD_FLAGS=--report=/tmp/x", "UNHEARD_PYTHON=python3",
	] {
		_given(said) == set()
	}
	_setting("UNHEARD_CONFIG_FILE=/tmp/x") == set()
	_given("UNHEARD_INDEX_URL=https://x.test") == {"command.redirects_connections"}
	_given("UNHEARD_INDEX_URL=https://pypi.org/simple") == set()
	_given("UNHEARD_TRACE=~/.bashrc") == {"command.writes_startup"}
	_given("UNHEARD_TRACE=/tmp/x") == set()
}

_given(said) := {finding.rule | some finding in found} if {
	given := object.union(call("unheard-of", [], []), {"assigns": [split(said, "=")[0]]})
	found := data.bailiff._examined.settings with input as _text_with([given], {"settings": [said]})
}

test_all_that_is_declared_is_shown if {
	every argv in [["-px"], ["-p", "-x"], ["-xp"]] {
		_settings([call("declare", argv, [])]).rules == {"command.reads_credentials"}
	}
	_settings([call("declare", ["-p"], ["name"])]).rules == set()
	_settings([call("declare", ["-x"], ["name=1"])]).rules == set()
	_settings([object.union(call("declare", ["-px"], []), {"pipes_to": "wc"})]).rules == set()
}

test_settings_of_another_home_name_programs if {
	of_git := object.union(call("git", [], ["status"]), {"assigns": ["HOME"]})
	_settings_with([of_git], {"settings": ["HOME=/tmp/x"]}).rules == {"command.preloads_library"}
	_settings_with([of_git], {"settings": ["HOME=/home/ana"]}).rules == set()
	of_make := object.union(call("make", [], []), {"assigns": ["HOME"]})
	_settings_with([of_make], {"settings": ["HOME=/tmp/x"]}).rules == set()
}
