package bailiff_test

test_local_isolates_nothing_whatever_is_claimed if {
	claimed := object.union(on_host(_ls("telegram")), {"backend": {"available": {"local": {"isolated": true}}}})
	_rules_of(_faults_of(claimed)) == {"backend.none"}
}

_with_ssh(name, isolated) := object.union(
	object.remove(_ls(name), ["backend"]),
	{"backend": {"requested": "", "available": {"ssh": {"isolated": isolated, "ready": true}}}},
)

test_backend_that_isolates_nothing_is_as_it_is_whatever_its_row_says if {
	platform := {"isolation": "optional", "backends": ["ssh"]}
	rows := {
		"sandboxes": {"ssh": _usual_sandbox},
		"platforms": {"cli": platform, "telegram": object.union(platform, {"isolation": "required"})},
	}
	bare := _settled_by(rows, _with_ssh("cli", false)).backend
	object.filter(bare, ["name", "network", "cpus", "memory_mb", "pids", "read_only"]) == {
		"name": "ssh", "network": "full", "cpus": 0, "memory_mb": 0, "pids": 0, "read_only": false,
	}
	every name in ["cli", "telegram"] {
		boxed := _settled_by(rows, _with_ssh(name, true)).backend
		object.filter(boxed, ["name", "network", "cpus", "read_only"]) == {"name": "ssh", "network": "none", "cpus": 1, "read_only": true}
	}
	_rules_of(_faults_by(rows, _with_ssh("telegram", false))) == {"backend.none"}
}

test_backend_that_no_table_names_is_bounded_too if {
	added := object.union(_ls("telegram"), {"backend": {"available": {"vault": {"isolated": true, "ready": true}}}})
	answer := _settled(added) with data.bailiff.backend_candidates as {{"name": "vault", "rank": -1}}
	answer.backend.name == "vault"
	answer.backend.memory_mb == 5120
	answer.backend.network == "none"
	answer.backend.read_only
}

test_isolation_is_a_fact_of_the_backend_and_no_wish if {
	_behind(_ls("cli")).isolate == {"bubblewrap", "docker"}
	_behind(wishing(_ls("cli"), "local")).isolate == {"bubblewrap", "docker"}
	_behind(on_host(_ls("cli"))).isolate == set()
}

test_host_is_enough_where_isolation_is_optional if {
	_behind(_ls("cli")).enough == {"bubblewrap", "docker", "local"}
	_behind(_ls("telegram")).enough == {"bubblewrap", "docker"}
	_behind(_ls("pigeon")).enough == {"bubblewrap", "docker"}
}
