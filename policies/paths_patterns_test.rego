package bailiff_test

test_patterns_mean_what_they_match if {
	_read("/etc/sh?dow") == {"command.reads_credentials"}
	_read("~/.s*/id_rsa") == {"command.reads_credentials"}
	_read("/proc/*/environ") == {"command.reads_credentials"}
	_read("/etc/*.conf") == set()
	_read("*.go") == set()
}

test_patterns_mean_what_they_could_be if {
	data.bailiff._by_pattern("reads", "/etc/sh*") == {"credentials"}
	data.bailiff._by_pattern("reads", "/etc/shadow") == set()
	data.bailiff._by_pattern("writes", "/etc/*.d/x") == {"accounts", "preload", "startup", "system"}
	data.bailiff._by_pattern("reads", "*.json") == set()
	data.bailiff._by_pattern("reads", "~/**/id_rsa") == {"credentials"}
	data.bailiff._by_pattern("reads", "~/**/*") == {"credentials"}
	data.bailiff._by_pattern("reads", "/srv/**/*.json") == set()
	[path |
		some path in ["/etc/*", "*", "~/**/*", "/srv/**/*", "/**/*", "/srv/**/id_*", "/srv/**/*.json"]
		data.bailiff._anchored(path)
	] == ["/etc/*", "~/**/*", "/**/*", "/srv/**/id_*"]
	data.bailiff._pattern_names("reads", "src/.e*") == {"credentials"}
	data.bailiff._pattern_names("reads", "src/*") == set()
	[base | some base in [".e*", "id_rs?", "*.go", "*"]; data.bailiff._narrow(base)] == [".e*", "id_rs?"]
	[path | some path in ["a*", "a?", "[a]", "{a,b}", "a"]; data.bailiff._wild(path)] == ["a*", "a?", "[a]", "{a,b}"]
	[folder |
		some folder in ["/etc", "/etc/cron.d", "/etc/cron.d/x", "/var"]
		data.bailiff._could_mean("/etc/cron.*", folder)
	] == [
		"/etc",
		"/etc/cron.d",
	]
}
