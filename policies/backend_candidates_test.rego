package bailiff_test

test_messaging_gets_docker if {
	every platform in _messaging {
		answer := _settled(_ls(platform))
		answer.backend.name == "docker"
	}
}

test_messaging_gets_bubblewrap_without_docker if {
	every platform in _messaging {
		answer := _settled(with_backends(_ls(platform), {"bubblewrap", "local"}))
		answer.backend.name == "bubblewrap"
	}
}

test_cli_prefers_isolation if {
	answer := _settled(_ls("cli"))
	answer.backend.name == "docker"
}

test_added_candidate_must_isolate_for_messaging if {
	faults := _faults_of(on_host(_ls("telegram"))) with data.bailiff.backend_candidates as {{"name": "local", "rank": 0}}
	_rules_of(faults) == {"backend.none"}
}

test_candidates_are_those_of_the_platform_in_its_order if {
	_behind(_ls("telegram")).candidates == {
		{"name": "docker", "rank": 0},
		{"name": "bubblewrap", "rank": 1},
	}
	_behind(_ls("pigeon")).candidates == set()
}

test_eligible_is_what_is_configured_and_isolates_enough if {
	_behind(_ls("telegram")).eligible == {[0, "docker"], [1, "bubblewrap"]}
	_behind(_ls("cli")).eligible == {[0, "docker"], [1, "bubblewrap"], [2, "local"]}
	_behind(with_backends(_ls("cli"), {"bubblewrap"})).eligible == {[1, "bubblewrap"]}
	_behind(on_host(_ls("telegram"))).eligible == set()
}

test_names_are_those_of_the_configuration if {
	data.bailiff._known_as("singularity") == "apptainer"
	data.bailiff._known_as("docker") == "docker"
	data.bailiff._said_of({"singularity": "row"}, "apptainer") == "row"
	data.bailiff._said_of({"singularity": "row", "apptainer": "its own"}, "apptainer") == "its own"
	data.bailiff._said_of({"docker": "row"}, "docker") == "row"
}
