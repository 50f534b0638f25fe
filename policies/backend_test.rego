package bailiff_test

ls(platform) := request(platform, [call("ls", [], [])])

messaging := {"telegram", "discord", "slack", "whatsapp", "signal", "matrix"}

test_messaging_gets_docker if {
	every platform in messaging {
		answer := usually(ls(platform))
		answer.backend.name == "docker"
	}
}

test_messaging_gets_bubblewrap_without_docker if {
	every platform in messaging {
		answer := usually(with_backends(ls(platform), {"bubblewrap", "local"}))
		answer.backend.name == "bubblewrap"
	}
}

test_messaging_is_denied_without_isolation if {
	every platform in messaging {
		answer := usually(on_host(ls(platform)))
		answer.outcome == "deny"
		answer.backend.name == ""
		rules(answer) == {"backend.none"}
	}
}

test_wish_for_local_is_not_heard_from_messaging if {
	every platform in messaging {
		answer := usually(wishing(ls(platform), "local"))
		answer.outcome == "allow"
		answer.backend.name == "docker"
	}
}

test_wish_for_an_isolated_candidate_is_honoured if {
	answer := usually(wishing(ls("telegram"), "bubblewrap"))
	answer.backend.name == "bubblewrap"
}

test_backend_that_is_down_is_still_the_one if {
	down := object.union(ls("telegram"), {"backend": {"available": {"docker": {"isolated": true, "ready": false}}}})
	answer := usually(down)
	answer.backend.name == "docker"
}

# Which backend a platform gets that says what to take, where only some are ready.
taken(platform, take, backends, ready) := by(
	{"platforms": {platform: object.union(
		{"isolation": isolation_for[platform], "backends": backends},
		take,
	)}},
	object.union(ls(platform), {"backend": {"available": {name: {"ready": name in ready} | some name, _ in configured}}}),
).backend.name

isolation_for := {"telegram": "required", "cli": "optional"}

test_first_is_taken_whether_it_is_ready_or_not if {
	every take in [{}, {"take": "first"}, {"take": "readdy"}] {
		taken("telegram", take, ["docker", "bubblewrap"], {"bubblewrap"}) == "docker"
	}
}

test_first_that_is_ready_is_taken_where_the_table_says_so if {
	backends := ["docker", "bubblewrap"]
	taken("telegram", {"take": "ready"}, backends, {"docker", "bubblewrap"}) == "docker"
	taken("telegram", {"take": "ready"}, backends, {"bubblewrap"}) == "bubblewrap"
	taken("telegram", {"take": "ready"}, backends, {"local"}) == "docker"
	taken("cli", {"take": "ready"}, ["docker", "local", "bubblewrap"], {"local", "bubblewrap"}) == "bubblewrap"
}

test_readiness_never_moves_a_request_to_a_place_that_isolates_otherwise if {
	taken("telegram", {"take": "ready"}, ["docker", "local"], {"local"}) == "docker"
	taken("cli", {"take": "ready"}, ["docker", "local"], {"local"}) == "docker"
	taken("cli", {"take": "ready"}, ["local", "docker"], {"docker"}) == "local"
}

test_wish_is_met_whatever_is_ready if {
	ready := {"telegram": {"isolation": "required", "backends": ["docker", "bubblewrap"], "take": "ready"}}
	states := {"backend": {"available": {"docker": {"ready": true}, "bubblewrap": {"ready": false}}}}
	by({"platforms": ready}, object.union(wishing(ls("telegram"), "bubblewrap"), states)).backend.name == "bubblewrap"
}

test_unknown_backend_is_denied if {
	answer := usually(wishing(ls("telegram"), "warp"))
	rules(answer) == {"backend.unknown"}
}

test_cli_prefers_isolation if {
	answer := usually(ls("cli"))
	answer.backend.name == "docker"
}

test_cli_gets_local_for_the_asking if {
	answer := usually(wishing(ls("cli"), "local"))
	answer.backend.name == "local"
	answer.backend.network == "full"
	answer.outcome == "allow"
}

test_cli_wish_never_becomes_a_weaker_place if {
	answer := usually(wishing(on_host(ls("cli")), "docker"))
	rules(answer) == {"backend.not_configured"}
}

test_local_isolates_nothing_whatever_is_claimed if {
	claimed := object.union(on_host(ls("telegram")), {"backend": {"available": {"local": {"isolated": true}}}})
	answer := usually(claimed)
	answer.outcome == "deny"
}

test_added_candidate_must_isolate_for_messaging if {
	answer := usually(on_host(ls("telegram")))
		with data.bailiff.backend_candidates as {{"name": "local", "rank": 0}}
	answer.outcome == "deny"
}

test_image_comes_from_the_table if {
	answer := by({"platforms": {"telegram": {"images": {"docker": "debian:12"}}}}, ls("telegram"))
	answer.backend.image == "debian:12"
}

test_files_are_kept_where_the_tables_say_so if {
	not kept_for("telegram", {}, {})
	kept_for("telegram", {"persistent": true}, {})
	kept_for("telegram", {}, {"docker": true})
	kept_for("telegram", {}, {"bubblewrap": true}) == false
	kept_for("telegram", {"persistent": true}, {"docker": false}) == false
}

# What is said of keeping files when the tables of docker and of the platform say more.
kept_for(name, sandbox, kept) := answer.backend.persistent if {
	docker := object.union(usual_sandbox, sandbox)
	platform := object.union(usual_platform, {"persistent": kept})
	answer := by(object.union({"sandboxes": {"docker": docker}}, {"platforms": {"telegram": platform}}), ls(name))
}

test_sandbox_has_an_age_and_the_least_of_those_given_holds if {
	usually(ls("telegram")).backend.max_seconds == 86400
	platform := object.union(usual_platform, {"limits": {"max_seconds": 600, "background_seconds": 90, "processes": 2}})
	short := by({"platforms": {"telegram": platform}}, ls("telegram"))
	short.backend.max_seconds == 600
	short.limits == {"timeout_seconds": 180, "output_bytes": 50000, "background_seconds": 90, "processes": 2}
}

with_ssh(name, isolated) := object.union(
	object.remove(ls(name), ["backend"]),
	{"backend": {"requested": "", "available": {"ssh": {"isolated": isolated, "ready": true}}}},
)

test_backend_that_isolates_nothing_is_as_it_is_whatever_its_row_says if {
	platform := {"isolation": "optional", "backends": ["ssh"]}
	rows := {"sandboxes": {"ssh": usual_sandbox}, "platforms": {"cli": platform, "telegram": object.union(platform, {"isolation": "required"})}}
	bare := by(rows, with_ssh("cli", false)).backend
	object.filter(bare, ["name", "network", "cpus", "memory_mb", "pids", "read_only"]) == {
		"name": "ssh", "network": "full", "cpus": 0, "memory_mb": 0, "pids": 0, "read_only": false,
	}
	every name in ["cli", "telegram"] {
		boxed := by(rows, with_ssh(name, true)).backend
		object.filter(boxed, ["name", "network", "cpus", "read_only"]) == {"name": "ssh", "network": "none", "cpus": 1, "read_only": true}
	}
	by(rows, with_ssh("telegram", false)).outcome == "deny"
}

test_backend_that_no_table_names_is_bounded_too if {
	added := object.union(ls("telegram"), {"backend": {"available": {"vault": {"isolated": true, "ready": true}}}})
	answer := usually(added) with data.bailiff.backend_candidates as {{"name": "vault", "rank": -1}}
	answer.backend.name == "vault"
	answer.backend.memory_mb == 5120
	answer.backend.network == "none"
	answer.backend.read_only
}
