package bailiff

# METADATA
# title: Files that get into a home without being named
# description: |
#   An archive, a revision or the content of a folder may hold files that start by
#   themselves, so it is asked about where it goes into a home, or into a folder of the
#   system.
_examined.unpacks contains _found("over_home", _spelt(call)) if {
	some call in _calls_of.unpacks
	some path in call.writes
	_root_folder(path)
}

# The content of a folder, hidden names among it.
_examined.spreads contains _found("over_home", _spelt(call)) if {
	some call in _calls_of.spreads
	_brings_content(call)
	some path in call.writes
	_root_folder(path)
}

_brings_content(call) if {
	some source in array.slice(call.operands, 0, count(call.operands) - 1)
	regex.match(`/\.?$|^\.$|/\.[*?\[]`, source)
	_keeps_hidden(call, source)
}

_brings_content(call) if "-T" in call.flags

# Only rsync takes "DIR/" for what is in it.
_keeps_hidden(call, _) if call.program == "rsync"

_keeps_hidden(_, source) if not endswith(source, "/")

# A server that chooses the names.
_examined.saves contains _found("over_home", _spelt(call)) if {
	some call in _calls_of.saves
	count({flag | some flag in call.flags} & _named_by_the_server) > 0
	some path in call.writes
	_root_folder(path)
}

_named_by_the_server := {
	"-r", "--recursive", "-m", "--mirror", "--content-disposition", "--trust-server-names", "-J",
	"--remote-header-name",
}

# Over policies, or in place of them.
_examined.spreads contains _found("own_settings", _spelt(call)) if {
	some call in _calls_of.spreads
	some path in call.writes
	regex.match(`(^|/)policies$`, path)
	_replaces(call)
}

_replaces(call) if _brings_content(call)

_replaces(call) if {
	call.program == "mv"
	regex.match(`(^|/)policies/?$`, call.operands[0])
}
