package bailiff_test

_naming(hosts) := object.union(request("slack", [call("curl", [], [])]), {"command": {"hosts": hosts}})

_opening := {
	"network": {
		"platforms": {"slack": {"network": "egress", "egress": ["mine", "port.test:443"]}},
		"ask_new_hosts": {"slack": true},
	},
	"destinations": {"named.test": [{}], "*.wild.test": [{}], "port.test": [{}], "unlisted.test": [{}]},
	"destination_groups": {"mine": ["named.test", "*.wild.test"]},
}

_asked_before(more, asked) := {finding.match |
	tables := object.union(_opening, more)
	some finding in data.bailiff._examined.hosts with input as asked
		with data.bailiff.tables.network as tables.network
		with data.bailiff.tables.destinations as tables.destinations
		with data.bailiff.tables.destination_groups as tables.destination_groups
	finding.rule == "command.reaches_new_host"
	_verdict_among(_places_by(tables.network, asked), _verdicts_on_hosts, finding) == "ask"
}

_verdicts_on_hosts := {"command.reaches_new_host": {"host": "allow", "sandbox": "allow", "networked": "ask", "shared": "allow"}}

_places_by(network, asked) := places if {
	places := data.bailiff._places with input as asked
		with data.bailiff.tables.network as network
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.chats as _usual_tables.chats
		with data.bailiff.tables.sandboxes as _usual_tables.sandboxes
		with data.bailiff.tables.house as _usual_tables.house
}

test_a_new_host_in_the_text_is_asked_about_before_it_runs if {
	hosts := ["new.test", "named.test", "a.wild.test", "wild.test", "port.test", "unlisted.test", "1.2.3.4", "::1", "localhost"]
	_asked_before({}, _naming(hosts)) == {"new.test", "wild.test", "unlisted.test"}
}

test_nobody_is_asked_before_where_nobody_is_asked_at_all if {
	count(_asked_before({}, unattended(_naming(["new.test"])))) == 0
	closed := {"network": {"platforms": {"slack": {"network": "egress", "egress": []}}, "ask_new_hosts": {"slack": false}}}
	count(_asked_before(closed, _naming(["new.test"]))) == 0
	without := {"network": {"platforms": {"slack": {"network": "none", "egress": []}}, "ask_new_hosts": {"slack": true}}}
	count(_asked_before(without, _naming(["new.test"]))) == 0
}
