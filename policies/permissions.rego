# Who may do what with files afterwards.

package bailiff

findings contains found("widens_permissions", mode) if {
	some [mode, _] in modes
	world_writable(mode)
}

findings contains found("setuid", mode) if {
	some [mode, _] in modes
	sets_id(mode)
}

# What can only be a mode among the words of chmod, install and mkdir.
modes := {[word, call.program] |
	some call in calls
	data.bailiff.tables.modes[call.program]
	some word in call.argv
	spelt := trim_left(trim_prefix(trim_prefix(word, "--mode="), "-m"), " ")
	regex.match(`^([0-7]{3,5}|=?[0-7]{3,5}|([ugoa]*[-+=][rwxXst]*,?)+)$`, spelt)
}

world_writable(mode) if regex.match(`(^|[^0-7])0?[0-7]?[0-7]{2}[2367]$`, mode)

world_writable(mode) if regex.match(`(^|[,=m])[ug]*[oa][ugoa]*[+=][rxXst]*w`, mode)

sets_id(mode) if regex.match(`(^|[^0-7])0?[24567][0-7]{3}$`, mode)

sets_id(mode) if regex.match(`(^|[,=m])[ugoa]*[+=][rwxXt]*s`, mode)
