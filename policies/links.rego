package bailiff

# METADATA
# title: Losses through a link
# description: |
#   The text makes a link and deletes what lies behind it.
_examined.links contains _found("destroys", through) if {
	some call in _calls_of.links
	target := call.operands[0]
	regex.match(`^[/~]`, target)
	some link in call.writes
	some deletion in _calls_of.deletes
	some path in deletion.writes
	startswith(path, concat("", [link, "/"]))
	through := concat("", [trim_right(target, "/"), trim_prefix(path, link)])
	_gone(deletion, through)
}

_gone(_, path) if _vital(path)

_gone(deletion, path) if {
	_recursive(deletion)
	_root_folder(path)
}

_gone(_, path) if {
	_wild(path)
	_root_folder(path)
}

# METADATA
# title: Paths through a link
# description: |
#   A file that is written through a link which the text makes is the target of the
#   link.
_examined.links contains _found(class, through) if {
	some call in _calls_of.links
	target := call.operands[0]
	regex.match(`^[/~]`, target)
	some link in call.writes
	some path in _writes
	startswith(path, concat("", [link, "/"]))
	through := concat("", [trim_right(target, "/"), trim_prefix(path, link)])
	some class in _classes_of("writes", through)
}

_examined.links contains _found(class, target) if {
	some call in _calls_of.links
	target := call.operands[0]
	regex.match(`^[/~]`, target)
	some link in call.writes
	_written_beside(call, link)
	some class in _classes_of("writes", target)
}

_written_beside(link, path) if {
	some other in _calls
	other != link
	not _has_trait(other.program, "looks")
	path in other.writes
}
