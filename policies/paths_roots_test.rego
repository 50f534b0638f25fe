package bailiff_test

test_folders_that_make_up_a_system_or_a_home if {
	[path | some path in _folders; data.bailiff._root_folder(path)] == [
		"/",
		"/etc",
		"/home",
		"/home/ana",
		"/root",
		"~",
		"~/..",
		"~/../..",
		"/*",
		"/e*",
		"/etc/*",
		"~/*",
		"~/.*",
	]
	[path |
		some path in ["", "/", "/home/ana", "/tmp", "~"]
		data.bailiff._root_folder_itself(path)
	] == [
		"",
		"/",
		"/home/ana",
		"~",
	]
}

_folders := [
	"",
	"/",
	"/etc",
	"/etc/x",
	"/home",
	"/home/ana",
	"/home/ana/x",
	"/root",
	"~",
	"~/x",
	"~/..",
	"~/../..",
	"/*",
	"/e*",
	"/etc/*",
	"~/*",
	"~/.*",
	"*",
	"./*",
	"/tmp",
	"/tmp/*",
	"/usr/*.txt",
]
