package bailiff_test

import data.bailiff.decision

test_network_is_none_unless_the_table_opens_it if {
	every platform in messaging | {"cli"} {
		answer := decision with input as ls(platform) with data.bailiff.tables as usual
		answer.backend.network == "none"
	}
}

test_table_opens_a_platform if {
	answer := decision with input as ls("telegram") with data.bailiff.tables as usual
		with data.bailiff.tables.network.platforms as {"telegram": {"network": "full"}}
	answer.backend.network == "full"
	other := decision with input as ls("discord") with data.bailiff.tables as usual
		with data.bailiff.tables.network.platforms as {"telegram": {"network": "full"}}
	other.backend.network == "none"
}

test_strictest_network_holds if {
	answer := decision with input as ls("telegram") with data.bailiff.tables as usual
		with data.bailiff.networks as {{"network": "full"}, {"network": "none"}}
	answer.backend.network == "none"
}

test_destinations_are_those_that_all_name if {
	answer := decision with input as ls("telegram") with data.bailiff.tables as usual with data.bailiff.networks as {
		{"network": "full"},
		{"network": "egress", "egress": ["a.test:443", "b.test:443"]},
		{"network": "egress", "egress": ["b.test:443", "c.test:443"]},
	}
	answer.backend.network == "egress"
	answer.backend.egress == ["b.test:443"]
}

test_unknown_word_closes_the_network if {
	answer := decision with input as ls("telegram") with data.bailiff.tables as usual
		with data.bailiff.networks as {{"network": "full"}, {"network": "open"}}
	answer.backend.network == "none"
}
