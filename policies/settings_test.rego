package bailiff_test

setting(said) := found_with([], {"settings": [said]})

test_strange_places_are_asked_about if {
	every said in [
		"PATH=/tmp/evil:$PATH", "PATH=$PATH:/mnt/x", "PATH=/usr/../tmp/x", "LD_LIBRARY_PATH=/tmp/x", "PYTHONPATH=/tmp/x:src",
		"CC=/tmp/cc", "EDITOR=/dev/shm/e -w", "PAGER=less; id", "NODE_OPTIONS=--require /tmp/x.js", "NODE_OPTIONS=--import=data:x",
		"JAVA_TOOL_OPTIONS=-javaagent:/tmp/a.jar", "GOFLAGS=-toolexec=x", "MAKEFLAGS=--eval=x", "LD_PRELOAD=./x.so",
	] {
		setting(said) == {"command.preloads_library"}
	}
}

test_usual_places_are_ordinary if {
	every said in [
		"PATH=$PATH:~/.local/bin", "PATH=./node_modules/.bin:$PATH", "PATH=/usr/local/go/bin:$PATH", "PYTHONPATH=.", "PYTHONPATH=/home/ana/p",
		"CC=clang", "CC=ccache gcc", "CC=/usr/bin/gcc", "CC=./cc", "EDITOR=true", "NODE_OPTIONS=--max-old-space-size=4096",
		"NODE_OPTIONS=-r ts-node/register", "JAVA_TOOL_OPTIONS=-Xmx1g", "GOFLAGS=-mod=mod", "FOO=/tmp/x", "HISTCONTROL=ignoredups",
	] {
		setting(said) == set()
	}
}

test_workspace_is_a_usual_place if {
	asked := object.union(request("cli", []), {"args": {"workdir": "/data/p"}, "command": {"settings": ["PATH=/data/p/bin:$PATH"]}})
	count(data.bailiff.findings) == 0 with input as on_host(asked)
}

test_words_of_make_are_settings if {
	found([call("make", [], ["CC=/tmp/cc"])]) == {"command.preloads_library"}
	found([call("make", [], ["SHELL=/tmp/sh"])]) == {"command.preloads_library"}
	found([call("make", [], ["CC=clang", "SHELL=/bin/bash", "test"])]) == set()
}

test_forgetting_what_was_typed_is_found if {
	setting("HISTFILE=/dev/null") == {"command.erases_traces"}
	found([call("unset", [], ["HISTFILE"])]) == {"command.erases_traces"}
	found([call("set", ["+o"], ["history"])]) == {"command.erases_traces"}
	found([call("unset", [], ["FOO"])]) == set()
}

test_settings_of_programs_count if {
	found_in({"settings": ["PATH=/tmp/x:$PATH"]}) == {"command.preloads_library"}
	found_in({"settings": ["PYTHONPATH=src"]}) == set()
}
