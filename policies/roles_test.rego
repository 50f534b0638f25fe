package bailiff_test

# The decision on a request of a person, with these roles.
_by_person(rows, person, groups, asked) := by({"roles": rows}, object.union(asked, {"requester": {"person": person, "groups": groups}}))

_listing := request("cli", [call("ls", [], [])])

_no_host := {"guest": {"people": ["ben"], "backends": ["docker"], "env": []}}

test_without_roles_nothing_changes if {
	every asked in [_listing, wanting(_git_push, ["GITHUB_TOKEN"])] {
		_by_person({}, "ben", ["guests"], asked) == by({}, asked)
		_by_person(_no_host, "ana", [], asked) == by({}, asked)
		by({"roles": _no_host}, asked) == by({}, asked)
	}
}

test_a_guest_does_not_use_the_host if {
	wish := wishing(_listing, "local")
	by({}, wish).backend.name == "local"
	_by_person(_no_host, "ana", [], wish).outcome == "allow"
	denied := _by_person(_no_host, "ben", [], wish)
	rules(denied) == {"backend.not_configured", "role.backend"}
	"The role guest leaves no backend for this: it may use docker." in {denial.message | some denial in denied.denials}
	_by_person(_no_host, "ben", [], _listing).backend.name == "docker"
	rules(_by_person({"guest": {"people": ["ben"], "backends": []}}, "ben", [], _listing)) == {"backend.none", "role.backend"}
}

test_a_guest_gets_no_variable if {
	asked := wanting(_git_push, ["GITHUB_TOKEN"])
	by({}, asked).env.forward == ["GITHUB_TOKEN"]
	answer := _by_person(_no_host, "ben", [], asked)
	answer.env.forward == []
	answer.env.withheld == [{"name": "GITHUB_TOKEN", "rule": "env.role"}]
}

_held_by(rows, asked) := held if {
	held := data.bailiff._roles_held with input as asked with data.bailiff.tables.roles as rows
}

test_a_role_says_what_gives_it if {
	rows := {
		"guest": {"people": ["ben"], "groups": ["guests"]},
		"member": {"users": ["telegram/43"], "groups": ["team"], "chats": ["telegram/-100"]},
		"rest": {"others": true},
	}
	asked := object.union(request("telegram", []), {"session": {"user_id": "43"}})
	_held_by(rows, object.union(asked, {"requester": {"person": "ben", "groups": ["guests", "x"]}})) == {
		"guest": {"person ben", "group guests"},
		"member": {"user telegram/43"},
	}
	_held_by(rows, object.union(asked, {"session": {"user_id": "99"}})) == {"rest": {"others"}}
	_held_by(rows, object.union(asked, {"session": {"user_id": "99"}, "requester": {"person": "carl", "groups": ["x"]}})) == {
		"rest": {"others"},
	}
	_held_by(rows, object.union(asked, {"session": {"user_id": "99", "chat_id": "-100"}})) == {"member": {"chat telegram/-100"}}
	_held_by(object.remove(rows, ["rest"]), object.union(asked, {"session": {"user_id": "99"}})) == {}
}

test_nobody_has_a_role_by_what_a_terminal_says_of_itself if {
	rows := {"staff": {"users": ["cli/ana"], "chats": ["cli/office"]}, "rest": {"others": true, "env": []}}
	asked := object.union(request("cli", []), {"session": {"user_id": "ana", "chat_id": "office"}})
	_held_by(rows, asked) == {"rest": {"others"}}
}

test_where_several_roles_hold_the_strictest_counts if {
	rows := {
		"guest": {
			"people": ["ben"],
			"backends": ["docker", "bubblewrap"],
			"env": ["GITHUB_TOKEN"],
			"network": {"network": "egress", "egress": ["a", "b"]},
		},
		"team": {
			"groups": ["team"],
			"backends": ["bubblewrap"],
			"env": ["TZ"],
			"network": {"network": "egress", "egress": ["b", "c"]},
		},
	}
	opened := {"roles": rows, "network": {"platforms": {"telegram": {"network": "egress", "egress": ["a", "b", "c"]}}}}
	asked := object.union(wanting(_git_push, ["GITHUB_TOKEN"]), {"requester": {"person": "ben", "groups": ["team"]}})
	answer := by(opened, asked)
	answer.backend.name == "bubblewrap"
	answer.backend.egress == ["b"]
	answer.env.forward == []
}

test_a_role_is_stricter_about_findings_and_never_milder if {
	_verdict_of_role("allow", {"guest": {"people": ["ben"], "verdicts": {"house.finds": "ask"}}}) == "ask"
	_verdict_of_role("ask", {"guest": {"people": ["ben"], "verdicts": {"house.finds": "allow"}}}) == "ask"
	_verdict_of_role("allow", {"guest": {"people": ["ben"], "verdicts": {"house.finds": "deny"}}}) == "deny"
	_verdict_of_role("allow", {"guest": {"people": ["carl"], "verdicts": {"house.finds": "deny"}}}) == "allow"
}

_verdict_of_role(verdict, rows) := _word_of(told) if {
	told := {"deny": _rules_of(data.bailiff.deny), "ask": _rules_of(data.bailiff.require_approval)}
		with input as object.union(_listing, {"requester": {"person": "ben", "groups": []}})
		with data.bailiff.tables.agents as {}
		with data.bailiff.tables.roles as rows
		with data.bailiff.tables.jobs as {}
		with data.bailiff.tables.verdicts as {"house.finds": {"host": verdict, "sandbox": verdict}}
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.sandboxes as _usual_tables.sandboxes
		with data.bailiff.tables.network as _usual_tables.network
		with data.bailiff.tables.hidden_rules as {}
		with data.bailiff.tables.instead as {}
		with data.bailiff.tables.house as _usual_tables.house
		with data.bailiff.findings as _found_by_house
}

test_a_role_keeps_platforms_away if {
	rows := {"guest": {"people": ["ben"], "platforms": ["telegram"]}}
	rules(_by_person(rows, "ben", [], _listing)) == {"role.platform"}
	_by_person(rows, "ben", [], request("telegram", [call("ls", [], [])])).outcome == "allow"
}

test_a_role_leaves_what_it_says_of_an_approval if {
	held := {"roles": {"guest": {"people": ["ben"], "scopes": ["once"]}}}
	asked := object.union(_listing, {"requester": {"person": "ben", "groups": []}})
	answer := by(object.union(held, {"verdicts": {"house.finds": {"host": "ask", "sandbox": "ask"}}}), asked)
		with data.bailiff.findings as _found_by_house
	answer.approval.scopes == ["once"]
}

_own_table := {"GITHUB_TOKEN": [{"platforms": ["*"], "programs": ["git"], "from_user": true}]}

_own_of(available, own) := _env_of_own(object.union(_git_push, {"env": {
	"requested": ["GITHUB_TOKEN"],
	"available": available, "own": own,
}}))

_env_of_own(asked) := answer.env if answer := by({"env": _own_table}, asked)

test_a_variable_of_each_person_is_that_persons_or_none if {
	_own_of([], ["GITHUB_TOKEN"]) == {
		"forward": ["GITHUB_TOKEN"], "withheld": [], "set": {}, "sealed": [], "from_user": ["GITHUB_TOKEN"],
	}
	every available in [[], ["GITHUB_TOKEN"]] {
		kept := _own_of(available, ["GITLAB_TOKEN"])
		kept.withheld == [{"name": "GITHUB_TOKEN", "rule": "env.not_own"}]
	}
	nobodys := _env_of_own(wanting(_git_push, ["GITHUB_TOKEN"]))
	nobodys.withheld == [{"name": "GITHUB_TOKEN", "rule": "env.not_own"}]
}

test_one_entry_makes_a_variable_each_persons if {
	table := {"GITHUB_TOKEN": array.concat(_own_table.GITHUB_TOKEN, [{"platforms": ["*"], "programs": ["git"]}])}
	answer := by({"env": table}, wanting(_git_push, ["GITHUB_TOKEN"]))
	answer.env.withheld == [{"name": "GITHUB_TOKEN", "rule": "env.not_own"}]
}

test_nobody_is_near_the_stand_in_of_a_person if {
	swap := {"hosts": ["github.com"], "alone": false}
	table := {"GITHUB_TOKEN": [{"platforms": ["*"], "programs": ["git"], "from_user": true, "swap": swap}]}
	opened := {"env": table, "network": {"platforms": {"telegram": {"network": "egress", "egress": ["github.com"]}}}}
	asked := object.union(_git_push, {"env": {"requested": ["GITHUB_TOKEN"], "available": [], "own": ["GITHUB_TOKEN"]}})
	answer := by(opened, asked)
	answer.env.swap == [{"name": "GITHUB_TOKEN", "hosts": ["github.com"], "in": ["authorization", "private-token", "x-api-key"]}]
	answer.env.from_user == ["GITHUB_TOKEN"]
}
