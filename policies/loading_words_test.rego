package bailiff_test

_loads_by(calls) := "command.preloads_library" in _told_of(found).rules if {
	found := {finding |
		"loading_words" in data.bailiff._aspects
		some finding in data.bailiff._examined.loading_words
	} with input as request("cli", calls)
}

test_options_load_code_by_their_parts_and_what_they_name if {
	every words in [
		["--script=x.lua"], ["--lua-filter", "x.lua"], ["--startup-script", "/tmp/x"], ["--plugin-dir=/tmp/p"], ["--load-extension=./x.so"],
		["-extensions", "./x.so"],
	] {
		_loads_by([call("unheard-of", words, [])])
	}
}

test_what_is_no_code_is_not_loaded if {
	every words in [
		["--script", "build"], ["--filter", "name=a"], ["--plugin", "react"], ["--config", "/tmp/x.toml"], ["--output", "x.js"],
		["--module=esnext"], ["--hooks", "/usr/share/x"], ["--", "--script=x.lua"],
	] {
		not _loads_by([call("unheard-of", words, [])])
	}
	not _loads_by([call("echo", ["--script=x.lua"], [])])
	not _loads_by([call("uv", ["--script"], ["x.py"])]) with data.bailiff.tables.loading_known as {"uv": {"--script": true}}
}
