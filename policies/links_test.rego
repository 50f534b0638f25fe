package bailiff_test

test_deleting_through_a_link_of_the_text if {
	linked := object.union(call("ln", ["-s"], ["/etc", "e"]), {"writes": ["e"]})
	emptied := object.union(call("rm", ["-r"], ["e/*"]), {"writes": ["e/*"]})
	"command.destroys_system" in _found([linked, emptied])
	harmless := object.union(call("ln", ["-s"], ["build", "e"]), {"writes": ["e"]})
	not "command.destroys_system" in _found([harmless, emptied])
}

test_links_of_the_text_lead_where_they_point if {
	_told([writing("ln", ["-s"], "l"), call("cp", [], ["a", "l"])]) == set()
	_told([_link("/etc", "l"), object.union(call("rm", ["-r"], ["l/"]), {"writes": ["l/"]})]) == {
		"command.deletes_recursively: l/",
		"command.writes_system: /etc/",
	}
	_told([_link("/etc", "l"), object.union(call("rm", [], ["l/passwd"]), {"writes": ["l/passwd"]})]) == {
		"command.changes_accounts: /etc/passwd",
		"command.destroys_system: /etc/passwd",
	}
	_told([_link("/etc", "l"), writing("tee", [], "l/hosts")]) == {"command.writes_system: /etc/hosts"}
	_told([_link("~/.bashrc", "l"), writing("tee", [], "l")]) == {"command.writes_startup: ~/.bashrc"}
	_told([_link("src", "l"), writing("tee", [], "l/a.go")]) == set()
	_told([_link("/etc", "l"), writing("ls", [], "l")]) == set()
}

_link(target, name) := object.union(call("ln", ["-s"], [target, name]), {"writes": [name]})
