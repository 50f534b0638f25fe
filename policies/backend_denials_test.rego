package bailiff_test

test_messaging_is_denied_without_isolation if {
	every platform in _messaging {
		answer := usually(on_host(_ls(platform)))
		answer.outcome == "deny"
		answer.backend.name == ""
		rules(answer) == {"backend.none"}
	}
}

test_unknown_backend_is_denied if {
	answer := usually(wishing(_ls("telegram"), "warp"))
	rules(answer) == {"backend.unknown"}
}

test_cli_wish_never_becomes_a_weaker_place if {
	answer := usually(wishing(on_host(_ls("cli")), "docker"))
	rules(answer) == {"backend.not_configured"}
}

test_denials_name_what_was_wished if {
	usually(wishing(_ls("telegram"), "warp")).denials == [
		{
			"match": "warp",
			"message": "The requested backend is neither configured nor in the table of sandboxes.",
			"rule": "backend.unknown",
		},
	]
	usually(on_host(_ls("telegram"))).denials == [
		{"match": "telegram", "message": "No configured backend may serve this platform.", "rule": "backend.none"},
	]
	usually(wishing(on_host(_ls("cli")), "docker")).denials == [
		{
			"match": "docker",
			"message": "The requested backend is not configured, or this platform may not use it.",
			"rule": "backend.not_configured",
		},
	]
	usually(wishing(_ls("cli"), "warp")).denials == [
		{
			"match": "warp",
			"message": "The requested backend is neither configured nor in the table of sandboxes.",
			"rule": "backend.unknown",
		},
		{
			"match": "warp",
			"message": "The requested backend is not configured, or this platform may not use it.",
			"rule": "backend.not_configured",
		},
	]
	usually(wishing(_ls("telegram"), "local")).denials == []
	usually(with_backends(_ls("cli"), set())).denials == [
		{"match": "cli", "message": "No configured backend may serve this platform.", "rule": "backend.none"},
	]
}
