package bailiff_test

import data.bailiff.decision

ls(platform) := request(platform, [call("ls", [], [])])

messaging := {"telegram", "discord", "slack", "whatsapp", "signal", "matrix"}

test_messaging_gets_docker if {
	every platform in messaging {
		answer := decision with input as ls(platform) with data.bailiff.tables as usual
		answer.backend.name == "docker"
	}
}

test_messaging_gets_bubblewrap_without_docker if {
	every platform in messaging {
		answer := decision with input as with_backends(ls(platform), {"bubblewrap", "local"}) with data.bailiff.tables as usual
		answer.backend.name == "bubblewrap"
	}
}

test_messaging_is_denied_without_isolation if {
	every platform in messaging {
		answer := decision with input as on_host(ls(platform)) with data.bailiff.tables as usual
		answer.outcome == "deny"
		answer.backend.name == ""
		rules(answer) == {"backend.none"}
	}
}

test_wish_for_local_is_not_heard_from_messaging if {
	every platform in messaging {
		answer := decision with input as wishing(ls(platform), "local") with data.bailiff.tables as usual
		answer.outcome == "allow"
		answer.backend.name == "docker"
	}
}

test_wish_for_an_isolated_candidate_is_honoured if {
	answer := decision with input as wishing(ls("telegram"), "bubblewrap") with data.bailiff.tables as usual
	answer.backend.name == "bubblewrap"
}

test_backend_that_is_down_is_still_the_one if {
	down := object.union(ls("telegram"), {"backend": {"available": {"docker": {"isolated": true, "ready": false}}}})
	answer := decision with input as down with data.bailiff.tables as usual
	answer.backend.name == "docker"
}

test_unknown_backend_is_denied if {
	answer := decision with input as wishing(ls("telegram"), "warp") with data.bailiff.tables as usual
	rules(answer) == {"backend.unknown"}
}

test_cli_prefers_isolation if {
	answer := decision with input as ls("cli") with data.bailiff.tables as usual
	answer.backend.name == "docker"
}

test_cli_gets_local_for_the_asking if {
	answer := decision with input as wishing(ls("cli"), "local") with data.bailiff.tables as usual
	answer.backend.name == "local"
	answer.backend.network == "full"
	answer.outcome == "allow"
}

test_cli_wish_never_becomes_a_weaker_place if {
	answer := decision with input as wishing(on_host(ls("cli")), "docker") with data.bailiff.tables as usual
	rules(answer) == {"backend.not_configured"}
}

test_local_isolates_nothing_whatever_is_claimed if {
	claimed := object.union(on_host(ls("telegram")), {"backend": {"available": {"local": {"isolated": true}}}})
	answer := decision with input as claimed with data.bailiff.tables as usual
	answer.outcome == "deny"
}

test_added_candidate_must_isolate_for_messaging if {
	answer := decision with input as on_host(ls("telegram")) with data.bailiff.tables as usual
		with data.bailiff.backend_candidates as {{"name": "local", "rank": 0}}
	answer.outcome == "deny"
}

test_image_comes_from_the_table if {
	answer := decision with input as ls("telegram") with data.bailiff.tables as usual
		with data.bailiff.tables.platforms.telegram.images as {"docker": "debian:12"}
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
	answer := decision with input as ls(name) with data.bailiff.tables as usual
		with data.bailiff.tables.sandboxes.docker as docker
		with data.bailiff.tables.platforms.telegram as platform
}

test_sandbox_has_an_age_and_the_least_of_those_given_holds if {
	usually(ls("telegram")).backend.max_seconds == 86400
	platform := object.union(usual_platform, {"limits": {"max_seconds": 600, "background_seconds": 90, "processes": 2}})
	short := decision with input as ls("telegram") with data.bailiff.tables as usual
		with data.bailiff.tables.platforms.telegram as platform
	short.backend.max_seconds == 600
	short.limits == {"timeout_seconds": 180, "output_bytes": 50000, "background_seconds": 90, "processes": 2}
}

test_backend_that_no_table_names_is_bounded_too if {
	added := object.union(ls("telegram"), {"backend": {"available": {"vault": {"isolated": true, "ready": true}}}})
	answer := decision with input as added with data.bailiff.tables as usual with data.bailiff.backend_candidates as {{"name": "vault", "rank": -1}}
	answer.backend.name == "vault"
	answer.backend.memory_mb == 5120
	answer.backend.network == "none"
	answer.backend.read_only
}
