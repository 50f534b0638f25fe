package bailiff_test

test_network_is_none_unless_the_table_opens_it if {
	every platform in messaging | {"cli"} {
		answer := usually(ls(platform))
		answer.backend.network == "none"
	}
}

test_table_opens_a_platform if {
	answer := by({"network": {"platforms": {"telegram": {"network": "full"}}}}, ls("telegram"))
	answer.backend.network == "full"
	other := by({"network": {"platforms": {"telegram": {"network": "full"}}}}, ls("discord"))
	other.backend.network == "none"
}

test_strictest_network_holds if {
	answer := usually(ls("telegram"))
		with data.bailiff.networks as {{"network": "full"}, {"network": "none"}}
	answer.backend.network == "none"
}

test_destinations_are_those_that_all_name if {
	answer := usually(ls("telegram")) with data.bailiff.networks as {
		{"network": "full"},
		{"network": "egress", "egress": ["a.test:443", "b.test:443"]},
		{"network": "egress", "egress": ["b.test:443", "c.test:443"]},
	}
	answer.backend.network == "egress"
	answer.backend.egress == ["b.test:443"]
}

test_unknown_word_closes_the_network if {
	answer := usually(ls("telegram"))
		with data.bailiff.networks as {{"network": "full"}, {"network": "open"}}
	answer.backend.network == "none"
}
