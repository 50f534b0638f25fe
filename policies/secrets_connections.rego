package bailiff

# METADATA
# title: Files that go into a connection
# description: |
#   A connection may get a file or the output of a program as its input.
_examined.connects contains _found("sends_files", _sent(call, path)) if {
	some call in _calls_of.connects
	some path in call.reads
	path != "/dev/null"
	_leads_out(call)
}

_leads_out(call) if not "relays" in _kinds_of(call.program)

# A relay may lead from a file to what is shown.
_leads_out(call) if {
	some address in call.operands
	regex.match(`(?i)(^|!!)(tcp|udp|openssl|ssl|dtls|socks|proxy|sctp|vsock|unix|abstract|ip[46]?:)`, address)
}

_examined.tunnels contains _found("sends_files", _sent(call, path)) if {
	some call in _calls_of.tunnels
	call.operands[0] == "s_client"
	some path in call.reads
	path != "/dev/null"
	not path in _configuring(call)
}

_examined.tunnels contains _found("sends_files", "") if {
	some client in _calls_of.tunnels
	client.operands[0] == "s_client"
	some call in _piped
	call != client # which another call of its own program shows
	call.pipes_to == client.program
	not _has_trait(call.program, "prints")
}

# The output of another program, unless it only prints what the text says.
_examined.sends contains _found("sends_files", "") if {
	some call in _piped
	"sends" in _kinds_of(call.pipes_to)
	not _has_trait(call.program, "prints")
	not _to_this_host
}

# A line that was read from somewhere, printed into a connection.
_examined.sends contains _found("sends_files", "") if {
	some reader in _calls
	reader.program in {"read", "mapfile", "readarray"}
	some name in reader.operands
	some call in _piped
	"sends" in _kinds_of(call.pipes_to)
	_has_trait(call.program, "prints")
	some word in call.argv
	regex.match(sprintf(`\$\{?%s\b`, [name]), word)
	not _to_this_host
}

# Text that a substitution makes out of files, put into a name or a URL.
_examined.sends contains _found("sends_files", "") if {
	some call in _calls_of.sends
	not _to_this_host
	some word in call.argv
	contains(word, "$(")
	some path in _reads
}

# Nothing leaves the machine when every host is this one.
_to_this_host if {
	count(_hosts) > 0
	every host in _hosts {
		host in {"localhost", "127.0.0.1", "::1"}
	}
}
