package bailiff_test

test_wish_for_local_is_not_heard_from_messaging if {
	every platform in _messaging {
		_settled(wishing(_ls(platform), "local")).backend.name == "docker"
		_faults_of(wishing(_ls(platform), "local")) == []
	}
}

test_wish_for_an_isolated_candidate_is_honoured if {
	answer := _settled(wishing(_ls("telegram"), "bubblewrap"))
	answer.backend.name == "bubblewrap"
}

test_backend_that_is_down_is_still_the_one if {
	down := object.union(_ls("telegram"), {"backend": {"available": {"docker": {"isolated": true, "ready": false}}}})
	answer := _settled(down)
	answer.backend.name == "docker"
}

# Which backend a platform gets that says what to take, where only some are ready.
_taken(platform, take, backends, ready) := _settled_by(
	{"platforms": {platform: object.union(
		{"isolation": _isolation_for[platform], "backends": backends},
		take,
	)}},
	object.union(_ls(platform), {"backend": {"available": {name: {"ready": name in ready} | some name, _ in _configured}}}),
).backend.name

_isolation_for := {"telegram": "required", "cli": "optional"}

test_first_is_taken_whether_it_is_ready_or_not if {
	every take in [{}, {"take": "first"}, {"take": "readdy"}] {
		_taken("telegram", take, ["docker", "bubblewrap"], {"bubblewrap"}) == "docker"
	}
}

test_first_that_is_ready_is_taken_where_the_table_says_so if {
	backends := ["docker", "bubblewrap"]
	_taken("telegram", {"take": "ready"}, backends, {"docker", "bubblewrap"}) == "docker"
	_taken("telegram", {"take": "ready"}, backends, {"bubblewrap"}) == "bubblewrap"
	_taken("telegram", {"take": "ready"}, backends, {"local"}) == "docker"
	_taken("cli", {"take": "ready"}, ["docker", "local", "bubblewrap"], {"local", "bubblewrap"}) == "bubblewrap"
}

test_readiness_never_moves_a_request_to_a_place_that_isolates_otherwise if {
	_taken("telegram", {"take": "ready"}, ["docker", "local"], {"local"}) == "docker"
	_taken("cli", {"take": "ready"}, ["docker", "local"], {"local"}) == "docker"
	_taken("cli", {"take": "ready"}, ["local", "docker"], {"docker"}) == "local"
}

test_wish_is_met_whatever_is_ready if {
	ready := {"telegram": {"isolation": "required", "backends": ["docker", "bubblewrap"], "take": "ready"}}
	states := {"backend": {"available": {"docker": {"ready": true}, "bubblewrap": {"ready": false}}}}
	_settled_by({"platforms": ready}, object.union(wishing(_ls("telegram"), "bubblewrap"), states)).backend.name == "bubblewrap"
}

test_cli_gets_local_for_the_asking if {
	answer := _settled(wishing(_ls("cli"), "local"))
	answer.backend.name == "local"
	answer.backend.network == "full"
	_faults_of(wishing(_ls("cli"), "local")) == []
}

test_place_is_that_of_the_chosen_backend if {
	every case in [
		{"asked": _ls("cli"), "chosen": "docker", "place": "sandbox"},
		{"asked": wishing(_ls("cli"), "local"), "chosen": "local", "place": "host"},
		{"asked": wishing(_ls("cli"), "bubblewrap"), "chosen": "bubblewrap", "place": "sandbox"},
		{"asked": wishing(_ls("telegram"), "local"), "chosen": "docker", "place": "sandbox"},
		{"asked": on_host(_ls("telegram")), "chosen": "", "place": "host"},
	] {
		_behind(case.asked).chosen == case.chosen
		_behind(case.asked).places & {"host", "sandbox"} == {case.place}
	}
}
