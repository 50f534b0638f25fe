package bailiff

# METADATA
# title: Hosts that no row names, in the text
# description: |
#   Where people are asked about new hosts, they are asked about those that the text names
#   before it runs, so that nothing is done by half. About the others they are asked when the
#   connection is made.
_examined.hosts contains _found("new_host", host) if {
	data.bailiff.tables.network.ask_new_hosts[input.session.platform]
	not input.session.unattended
	some host in _hosts
	_is_name(host)
	not _is_opened(host)
}

# Addresses are not asked about, nor is what stays inside the sandbox.
_is_name(host) if {
	regex.match(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.[a-z][a-z0-9-]*$`, host)
	not endswith(host, ".localhost")
}

# A row names it, and so does the list of the platform.
_is_opened(host) if {
	some name in _names_of(host)
	data.bailiff.tables.destinations[name]
	some said in data.bailiff.tables.network.platforms[input.session.platform].egress
	some one in object.get(data.bailiff.tables.destination_groups, said, [said])
	split(one, ":")[0] == name
}

# A host, and "*.parent" for each of its parents.
_names_of(host) := {host} | {name |
	labels := split(host, ".")
	some i, _ in labels
	i > 0
	name := concat(".", array.concat(["*"], array.slice(labels, i, count(labels))))
}
