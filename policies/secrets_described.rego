package bailiff

# METADATA
# title: What describes the machine
# description: |
#   The name of the machine, of its user and of its network say whom an attacker has reached. They leave in the path or the body of a
#   request as well as in a name. Hosts that a table gives for secrets or packages, and this machine, may have them.
_examined.sends contains _found("host_facts", _spelt(call)) if {
	some call in _calls_of.sends
	_carries_description(call)
	not _to_hosts_of_tables
}

_carries_description(call) if {
	some other in _calls
	_describes_machine(other)
	other.pipes_to == call.program
}

_carries_description(call) if {
	some word in call.argv
	contains(word, "$(…)")
	some other in _calls
	_describes_machine(other)
	other.pipes_to == ""
	other.writes == []
}

_describes_machine(call) if data.bailiff.tables.describers[call.program]

_to_hosts_of_tables if {
	count(_hosts) > 0
	every host in _hosts {
		_known_to_tables(host)
	}
}

_known_to_tables(host) if host in {"localhost", "127.0.0.1", "::1"}

_known_to_tables(host) if data.bailiff.tables.public_indexes[host]

_known_to_tables(host) if regex.match(_stays_here, host)

_known_to_tables(host) if {
	some known in data.bailiff.tables.secret_hosts[_]
	known in _names_of(host)
}
