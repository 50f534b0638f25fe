package bailiff

# METADATA
# title: Servers of files
# description: |
#   A server hands out its folder to every client, from other machines too.
_examined.python contains _found("sends_files", _spelt(call)) if {
	some call in _calls_of.python
	some position, "-m" in call.argv
	regex.match(`(?i)(http|ftp|web|file|dav|smb|upload)[a-z_.]*(d|serve|server)(lib)?$`, call.argv[position + 1])
	not _local_only(call)
}

_local_only(call) if {
	some position, option in call.argv
	option in {"--bind", "-b"}
	call.argv[position + 1] in {"localhost", "127.0.0.1", "::1"}
}

_local_only(call) if {
	some option in call.argv
	option in {"--bind=localhost", "--bind=127.0.0.1", "--bind=::1", "-blocalhost", "-b127.0.0.1"}
}

# METADATA
# title: Shells that are joined to the network
# description: |
#   A shell gets its text from a connection, or gives its output to one.
_examined.tunnels contains _found("reverse_shell", "") if {
	some call in _calls_of.tunnels
	data.bailiff.tables.shells[call.pipes_to]
}

_examined.tunnels contains _found("reverse_shell", "") if {
	some call in _piped
	"tunnels" in _kinds_of(call.pipes_to)
	data.bailiff.tables.shells[call.program]
}

_examined.relays contains _found("reverse_shell", _spelt(call)) if {
	some call in _calls_of.relays
	some operand in call.operands
	regex.match(`(?i)^(exec|system|shell):`, operand)
}
