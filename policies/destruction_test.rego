package bailiff_test

destroys(calls) if "command.destroys_system" in found(calls)

test_system_folders_and_homes_are_not_deleted if {
	every path in ["/", "/etc", "/usr", "~", "/root", "/home/ana", "/*", "/etc/*", "~/*", "~/.*", "/e*", "/[a-z]*", "/???", "~/.."] {
		destroys([writing("rm", ["-r", "-f"], path)])
	}
}

test_folders_below_are_a_question if {
	every path in ["build", "/etc/nginx", "~/project", "/home/ana/project", "/workspace/*", "/tmp", "..", "/tmp*"] {
		not destroys([writing("rm", ["-r"], path)])
		"command.deletes_recursively" in found([writing("rm", ["-r"], path)])
	}
}

test_recursion_may_be_abbreviated if destroys([writing("rm", ["--recur"], "/")])

test_named_files_are_ordinary if {
	found([writing("rm", [], "a.txt")]) == set()
	found([writing("rm", ["-f"], "build/a.o")]) == set()
	found([writing("rm", [], "*.o")]) == {"command.deletes_by_pattern"}
}

test_names_from_elsewhere_are_a_question if {
	found([object.union(call("rm", [], []), {"wrappers": ["xargs"]})]) == {"command.deletes_by_pattern"}
}

test_search_deletes if {
	destroys([call("find", [], ["/", "-delete"])])
	not destroys([call("find", [], [".", "-delete"])])
	found([call("find", [], [".", "-delete"])]) == {"command.deletes_recursively"}
	found([call("find", [], [".", "-name", "*.go"])]) == set()
	not destroys([call("find", [], ["/", "-name", "*.pyc", "-delete"])])
}

test_disks_are_not_formatted if {
	destroys([call("mkfs.ext4", [], ["/dev/sda1"])])
	destroys([call("mkfs", [], ["$DISK"])])
	not destroys([call("mkfs.ext4", [], ["./disk.img"])])
}

test_whole_system_keeps_its_permissions if {
	destroys([writing("chmod", ["-R"], "/")])
	destroys([writing("chown", ["-R"], "/etc")])
	not destroys([writing("chmod", [], "/")])
}

saying(program_name, statement) := rules_of if {
	asked := object.union(request("cli", [call(program_name, [], [])]), {"command": {"text": statement}})
	findings := data.bailiff.findings with input as asked
	rules_of := {finding.rule | some finding in findings}
}

test_statements_that_destroy_data if {
	every statement in ["DROP TABLE users", "truncate table users", "DELETE FROM users", "delete from users;", "FLUSHALL"] {
		saying("psql", statement) == {"command.destroys_data"}
		saying("grep", statement) == set()
	}
	saying("psql", "DELETE FROM users WHERE id = 1") == set()
	saying("psql", "SELECT * FROM drops") == set()
}
