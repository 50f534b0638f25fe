package bailiff_test

test_classes_of_a_path_are_those_of_its_folders_and_names if {
	data.bailiff._classes_of("reads", "/etc/shadow") == {"credentials"}
	data.bailiff._classes_of("writes", "/etc/cron.d/job") == {"startup"}
	data.bailiff._classes_of("reads", "src/server.pem") == set()
	data.bailiff._classes_of("reads", "src/main.go") == set()
	data.bailiff._classes_of("writes", "~/.ssh/authorized_keys") == {"ssh"}
}

test_homes_are_a_home_however_they_are_spelt if {
	data.bailiff._forms("/root/x") == {"/root/x", "~/x"}
	data.bailiff._forms("/home/ana/x") == {"/home/ana/x", "~/x"}
	data.bailiff._forms("/Users/ana") == {"/Users/ana", "~"}
	data.bailiff._forms("~ana/x") == {"~/x", "~ana/x"}
	data.bailiff._forms("~/x") == {"~/x"}
	data.bailiff._forms("src/x") == {"src/x"}
}

test_deepest_folder_with_an_entry_counts if {
	data.bailiff._nearest("writes", ["", "etc", "cron.d", "job"]) == "startup"
	data.bailiff._nearest("writes", ["", "etc", "motd"]) == "system"
	data.bailiff._near_or_free("writes", ["src", "a"]) == "free"
	[data.bailiff._last_of(folder) | some folder in ["/a/b/", "b/", ""]] == ["b/", "b/", ""]
	data.bailiff._around("writes", "/etc/") == {"/etc/": "system"}
	data.bailiff._around("writes", "src/") == {}
}
