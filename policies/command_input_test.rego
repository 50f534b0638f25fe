package bailiff_test

test_names_from_elsewhere_have_no_match if {
	every asked in [
		_reached_through("xargs", call("rm", ["-r"], ["./*"])),
		_reached_through("find", call("rm", ["-r"], ["./*"])),
		_reached_through("xargs", call("rimraf", [], [])),
		_reached_through("parallel", call("sudo", [], ["sh"])),
		call("kill", [], ["$(…)"]), call("rm", ["-r"], ["$BUILD"]), call("sudo", [], ["sh", "<(…)"]),
	] {
		_matches([asked]) == {""}
	}
}

_reached_through(wrapper, inner) := object.union(inner, {"wrappers": [wrapper]})

test_input_of_a_call_is_told_by_its_words_or_not if {
	[path |
		some path in ["a", "b/c", "c", "/d"]
		data.bailiff._stands_in(path, call("x", ["--f=b/c"], ["@a", "<c"]))
	] == [
		"a",
		"b/c",
		"c",
	]
	data.bailiff._stands_in("a", call("x", [], ["dir/a"])) == true
	[w | some w in ["find", "xargs", "parallel", "sudo", "env"]; data.bailiff._supplies(w)] == [
		"find",
		"xargs",
		"parallel",
	]
	[w |
		some w in ["find", "xargs", "sudo"]
		data.bailiff._supplied(_reached_through(w, call("rm", [], ["a"])))
	] == [
		"find",
		"xargs",
	]
}

test_call_is_fed_by_a_pipe_or_a_file if {
	_data([object.union(call("cat", [], ["x"]), {"pipes_to": "psql"}), call("psql", ["-c"], ["drop table x"])]).told == {
		"command.destroys_data: ",
	}
	_data([call("psql", ["-c"], ["drop table x"])]).told == {"command.destroys_data: psql -c 'drop table x'"}
	_data_with([object.union(call("ssh", [], ["h"]), {"reads": ["x"]})], {"features": ["redirect"]}).told == {
		"command.reaches_another_host: ",
	}
	_data_with([object.union(call("ssh", [], ["h", "x"]), {"reads": ["x"]})], {"features": ["redirect"]}).told == {
		"command.reaches_another_host: ssh h x",
	}
}
