package bailiff_test

# What is found where links are made.
_links(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.links,
		data.bailiff._examined.deletes,
		data.bailiff._examined.paths,
	}) with input as request("cli", calls)
}

test_deleting_through_a_link_of_the_text if {
	linked := object.union(call("ln", ["-s"], ["/etc", "e"]), {"writes": ["e"]})
	emptied := object.union(call("rm", ["-r"], ["e/*"]), {"writes": ["e/*"]})
	"command.destroys_system" in _links([linked, emptied]).rules
	harmless := object.union(call("ln", ["-s"], ["build", "e"]), {"writes": ["e"]})
	not "command.destroys_system" in _links([harmless, emptied]).rules
}

test_links_of_the_text_lead_where_they_point if {
	_links([writing("ln", ["-s"], "l"), call("cp", [], ["a", "l"])]).told == set()
	_links([_link("/etc", "l"), object.union(call("rm", ["-r"], ["l/"]), {"writes": ["l/"]})]).told == {
		"command.deletes_recursively: l/",
		"command.writes_system: /etc/",
	}
	_links([_link("/etc", "l"), object.union(call("rm", [], ["l/passwd"]), {"writes": ["l/passwd"]})]).told == {
		"command.changes_accounts: /etc/passwd",
		"command.destroys_system: /etc/passwd",
	}
	_links([_link("/etc", "l"), writing("tee", [], "l/hosts")]).told == {"command.writes_system: /etc/hosts"}
	_links([_link("~/.bashrc", "l"), writing("tee", [], "l")]).told == {"command.writes_startup: ~/.bashrc"}
	_links([_link("src", "l"), writing("tee", [], "l/a.go")]).told == set()
	_links([_link("/etc", "l"), writing("ls", [], "l")]).told == set()
}

_link(target, name) := object.union(call("ln", ["-s"], [target, name]), {"writes": [name]})
