package bailiff_test

test_messaging_is_denied_without_isolation if {
	every platform in _messaging {
		_settled(on_host(_ls(platform))).backend.name == ""
		_rules_of(_faults_of(on_host(_ls(platform)))) == {"backend.none"}
	}
}

test_unknown_backend_is_denied if {
	_rules_of(_faults_of(wishing(_ls("telegram"), "warp"))) == {"backend.unknown"}
}

test_cli_wish_never_becomes_a_weaker_place if {
	_rules_of(_faults_of(wishing(on_host(_ls("cli")), "docker"))) == {"backend.not_configured"}
}

test_denials_name_what_was_wished if {
	_faults_of(wishing(_ls("telegram"), "warp")) == [
		{
			"match": "warp",
			"message": "The requested backend is neither configured nor in the table of sandboxes.",
			"rule": "backend.unknown",
		},
	]
	_faults_of(on_host(_ls("telegram"))) == [
		{"match": "telegram", "message": "No configured backend may serve this platform.", "rule": "backend.none"},
	]
	_faults_of(wishing(on_host(_ls("cli")), "docker")) == [
		{
			"match": "docker",
			"message": "The requested backend is not configured, or this platform may not use it.",
			"rule": "backend.not_configured",
		},
	]
	_faults_of(wishing(_ls("cli"), "warp")) == [
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
	_faults_of(wishing(_ls("telegram"), "local")) == []
	_faults_of(with_backends(_ls("cli"), set())) == [
		{"match": "cli", "message": "No configured backend may serve this platform.", "rule": "backend.none"},
	]
}
