package bailiff

# METADATA
# title: Who may do what with files afterwards
# description: |
#   Modes that let every user write, or that lend a program the rights of its owner.
_examined.modes contains _found("widens_permissions", _spelt(call)) if {
	some [call, mode] in _modes
	_world_writable(mode)
}

_examined.modes contains _found("setuid", _spelt(call)) if {
	some [call, mode] in _modes
	_sets_id(mode)
}

# What can only be a mode among the words of chmod, install and mkdir.
_modes := {[call, mode] |
	some call in _calls_of.modes
	some word in call.argv
	mode := trim_left(trim_prefix(trim_prefix(word, "--mode="), "-m"), " ")
	regex.match(`^([0-7]{3,5}|=?[0-7]{3,5}|([ugoa]*[-+=][rwxXst]*,?)+)$`, mode)
}

# What new files are kept from: writing by others must be among it.
_examined.masks contains _found("widens_permissions", _spelt(call)) if {
	some call in _calls_of.masks
	some mask in call.operands
	_lets_others_write(mask)
}

_lets_others_write(mask) if regex.match(`^[0-7]*[0145]$`, mask)

_lets_others_write(mask) if {
	not regex.match(`^[0-7]+$`, mask)
	_world_writable(mask)
}

_world_writable(mode) if regex.match(`(^|[^0-7])0?[0-7]?[0-7]{2}[2367]$`, mode)

_world_writable(mode) if regex.match(`(^|[,=m])[ug]*[oa][ugoa]*[+=][rxXst]*w`, mode)

_sets_id(mode) if regex.match(`(^|[^0-7])0?[24567][0-7]{3}$`, mode)

_sets_id(mode) if regex.match(`(^|[,=m])[ugoa]*[+=][rwxXt]*s`, mode)
