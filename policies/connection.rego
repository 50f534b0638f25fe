# Connections out of sandboxes whose network is egress.
#
# Each connection, and each request on one whose requests are judged, is put as
# input.connection, with the session that it belongs to. Any file of package bailiff may
# contribute to these sets:
#
# deny_connection     {rule, message, match, instead, hidden}: refused
# ask_connection      {rule, message, match, instead, hidden, scopes, timeout_seconds, grant_seconds,
#                     quorum}: asked about while it waits
# connection_limits   {upload_mb, download_mb}: the least counts

package bailiff

# METADATA
# title: The answer to a connection
# description: |
#   A denial always wins. Without one and without a question the connection is let through.
# entrypoint: true
connection := object.union(_connection_verdict, {"approval": _connection_approval}) if _connection_outcome == "ask"

connection := _connection_verdict if _connection_outcome != "ask"

_connection_verdict := object.union(_connection_terms, _connection_bounds)

_connection_terms := {
	"outcome": _connection_outcome,
	"denials": _in_order(deny_connection),
	"private": _is_private,
	"intercept": _is_intercepted,
	"websocket": _is_websocket,
}

default _connection_bounds := {}

_connection_bounds := {"limits": bounds} if {
	bounds := {name: least |
		some name in ["upload_mb", "download_mb"]
		least := min({said[name] | some said in connection_limits})
	}
	count(bounds) > 0
}

_connection_approval := _approval_of(_in_order(ask_connection), ask_connection)

default _connection_outcome := "deny"

_connection_outcome := "ask" if {
	count(deny_connection) == 0
	count(ask_connection) > 0
}

_connection_outcome := "allow" if {
	count(deny_connection) == 0
	count(ask_connection) == 0
}

# METADATA
# title: New hosts
# description: |
#   Asks about a host that no row names, on the platforms of which the table says so.
ask_connection contains {
	"rule": "egress.new_host",
	"message": "It wants to reach a host that no row names.",
	"match": _destination,
} if {
	count(_rows) == 0
	_asks_new_hosts
	not _was_approved
}

# People were asked about the host before the request ran.
_was_approved if {
	some approved in input.request.approved
	approved.rule == "command.reaches_new_host"
	approved.match == input.connection.host
}

# An unattended session has no human to ask.
deny_connection contains {
	"rule": "approval.unattended",
	"message": "The connection needs an approval, and nobody attends the session.",
	"match": asked.rule,
} if {
	input.session.unattended
	some asked in ask_connection
}

_asks_new_hosts if {
	not input.connection.is_address
	data.bailiff.tables.network.ask_new_hosts[input.session.platform]
}

# METADATA
# title: Hosts that no row names
# description: |
#   Denies a connection to a host and port that no row of the table of destinations
#   allows, or that is not among those that its request may reach.
deny_connection contains {
	"rule": "egress.not_in_table",
	"message": "No row lets a sandbox of this session reach this host.",
	"match": _destination,
} if {
	not input.connection.is_address
	not _asks_new_hosts
	count(_rows) == 0
}

deny_connection contains {
	"rule": "egress.address",
	"message": "An address needs a row of its own.",
	"match": _destination,
} if {
	input.connection.is_address
	count(_rows) == 0
}

# METADATA
# title: Requests that no row allows
# description: |
#   Denies a request whose method and path fit no row of its host.
deny_connection contains {
	"rule": "egress.not_this_request",
	"message": "The rows of this host do not allow this method and path.",
	"match": _destination,
} if {
	count(_rows) > 0
	input.connection.method != ""
	every row in _rows {
		not _fits(row)
	}
}

# METADATA
# title: Tunnels whose requests are not judged
# description: |
#   Denies a tunnel to a host whose rows all name methods or paths, unless its requests
#   are judged one by one.
deny_connection contains {
	"rule": "egress.not_judged",
	"message": "The rows of this host name methods or paths, and the requests of this connection cannot be judged.",
	"match": _destination,
} if {
	count(_rows) > 0
	input.connection.method == ""
	not input.connection.intercepted
	every row in _rows {
		_is_narrow(row)
	}
}

_destination := sprintf("%s:%d", [input.connection.host, input.connection.port])

# The host, and "*.parent" for each of its parents: looked up, not searched.
_destination_names contains input.connection.host

_destination_names contains name if {
	not input.connection.is_address
	labels := split(input.connection.host, ".")
	some i, _ in labels
	i > 0
	name := concat(".", array.concat(["*"], array.slice(labels, i, count(labels))))
}

# An address is looked for in the ranges that the table names, too.
_destination_names contains name if {
	input.connection.is_address
	some name, _ in data.bailiff.tables.destinations
	contains(name, "/")
	net.cidr_contains(name, input.connection.host)
}

_rows contains row if {
	_is_within_request
	some name in _destination_names
	some row in data.bailiff.tables.destinations[name]
	input.connection.port in object.get(row, "ports", [443, 80])
	_speaks(row)
}

# What the request may reach at most: hosts, "*.domain", either with a port, or groups.
_is_within_request if {
	some said in input.request.egress
	some name in object.get(data.bailiff.tables.destination_groups, said, [said])
	some host in _destination_names
	name in {host, sprintf("%s:%d", [host, input.connection.port])}
}

_speaks(row) if row.protocol == input.connection.protocol

_speaks(row) if {
	not row.protocol
	input.connection.protocol == "https"
}

_speaks(row) if {
	not row.protocol
	input.connection.protocol == "http"
	input.connection.port == 80
}

_is_narrow(row) if row.methods

_is_narrow(row) if row.paths

_fits(row) if {
	_fits_method(row)
	_fits_path(row)
}

_fits_method(row) if not row.methods

_fits_method(row) if input.connection.method in row.methods

_fits_path(row) if not row.paths

_fits_path(row) if {
	some pattern in row.paths
	glob.match(pattern, ["/"], input.connection.path)
}

# Only a row of this very host or of a range opens private addresses, never one of a wildcard.
default _is_private := false

_is_private if {
	count(_rows) > 0
	some name in _destination_names
	not startswith(name, "*.")
	some row in data.bailiff.tables.destinations[name]
	row in _rows
	row.private
}

# METADATA
# title: How much may pass
# description: |
#   What the rows say that the connection or request fits: the most of them, and nothing if
#   one of them says nothing.
connection_limits contains {name: max(said)} if {
	some name in ["upload_mb", "download_mb"]
	said := [row[name] | some row in _fitting_rows]
	count(said) > 0
	count(said) == count(_fitting_rows)
}

# Those that the connection or request fits, which explanations show too.
_fitting_rows contains row if {
	some row in _rows
	_bears(row)
}

# Of a tunnel no method is known.
_bears(_) if input.connection.method == ""

_bears(row) if {
	input.connection.method != ""
	_fits(row)
}

# Requests are judged one by one unless every row leaves them closed.
default _is_intercepted := false

_is_intercepted if {
	some row in _rows
	object.get(row, "intercept", true)
	object.get(row, "protocol", "https") != "tcp"
}

# A request may go over to a WebSocket if a row that it fits says so.
default _is_websocket := false

_is_websocket if {
	some row in _rows
	row.websocket
	_fits(row)
}
