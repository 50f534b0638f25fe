# Who may do what with files afterwards.

package bailiff

examined.modes contains found("widens_permissions", spelt(call)) if {
	some [call, mode] in modes
	world_writable(mode)
}

examined.modes contains found("setuid", spelt(call)) if {
	some [call, mode] in modes
	sets_id(mode)
}

# What can only be a mode among the words of chmod, install and mkdir.
modes := {[call, mode] |
	some call in calls_of.modes
	some word in call.argv
	mode := trim_left(trim_prefix(trim_prefix(word, "--mode="), "-m"), " ")
	regex.match(`^([0-7]{3,5}|=?[0-7]{3,5}|([ugoa]*[-+=][rwxXst]*,?)+)$`, mode)
}

# What new files are kept from: writing by others must be among it.
examined.masks contains found("widens_permissions", spelt(call)) if {
	some call in calls_of.masks
	some mask in call.operands
	lets_others_write(mask)
}

lets_others_write(mask) if regex.match(`^[0-7]*[0145]$`, mask)

lets_others_write(mask) if {
	not regex.match(`^[0-7]+$`, mask)
	world_writable(mask)
}

world_writable(mode) if regex.match(`(^|[^0-7])0?[0-7]?[0-7]{2}[2367]$`, mode)

world_writable(mode) if regex.match(`(^|[,=m])[ug]*[oa][ugoa]*[+=][rxXst]*w`, mode)

sets_id(mode) if regex.match(`(^|[^0-7])0?[24567][0-7]{3}$`, mode)

sets_id(mode) if regex.match(`(^|[,=m])[ugoa]*[+=][rwxXt]*s`, mode)
