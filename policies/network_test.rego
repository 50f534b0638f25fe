package bailiff_test

test_network_is_none_unless_the_table_opens_it if {
	every platform in _messaging | {"cli"} {
		answer := _settled(_ls(platform))
		answer.backend.network == "none"
	}
}

test_table_opens_a_platform if {
	answer := _settled_by({"network": {"platforms": {"telegram": {"network": "full"}}}}, _ls("telegram"))
	answer.backend.network == "full"
	other := _settled_by({"network": {"platforms": {"telegram": {"network": "full"}}}}, _ls("discord"))
	other.backend.network == "none"
}

test_strictest_network_holds if {
	answer := _settled(_ls("telegram"))
		with data.bailiff.networks as {{"network": "full"}, {"network": "none"}}
	answer.backend.network == "none"
}

test_destinations_are_those_that_all_name if {
	answer := _settled(_ls("telegram")) with data.bailiff.networks as {
		{"network": "full"},
		{"network": "egress", "egress": ["a.test:443", "b.test:443"]},
		{"network": "egress", "egress": ["b.test:443", "c.test:443"]},
	}
	answer.backend.network == "egress"
	answer.backend.egress == ["b.test:443"]
}

test_unknown_word_closes_the_network if {
	answer := _settled(_ls("telegram"))
		with data.bailiff.networks as {{"network": "full"}, {"network": "open"}}
	answer.backend.network == "none"
}

test_network_is_the_most_closed_that_was_said if {
	[_settled(_git_status).backend.network, _settled(on_host(request("cli", []))).backend.network] == ["none", "full"]
	_network_of({{"network": "full"}}) == ["full", []]
	_network_of({{"network": "full"}, {"network": "none"}}) == ["none", []]
	_network_of({{"network": "egress", "egress": ["a", "b"]}, {"network": "egress", "egress": ["b", "c"]}}) == [
		"egress",
		["b"],
	]
	_network_of({{"network": "egress", "egress": ["a"]}, {"network": "full"}}) == ["egress", ["a"]]
	_network_of({{"network": "open"}}) == ["none", []]
	_network_of({"full"}) == ["none", []]
}

_network_of(said) := [answer.backend.network, answer.backend.egress] if answer := _settled(_git_status) with data.bailiff.networks as said
