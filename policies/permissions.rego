# Who may do what with files afterwards.

package bailiff

examined.modes contains found("widens_permissions", mode) if {
	some mode in modes
	world_writable(mode)
}

examined.modes contains found("setuid", mode) if {
	some mode in modes
	sets_id(mode)
}

# What can only be a mode among the words of chmod, install and mkdir.
modes := {spelt |
	some call in calls_of.modes
	some word in call.argv
	spelt := trim_left(trim_prefix(trim_prefix(word, "--mode="), "-m"), " ")
	regex.match(`^([0-7]{3,5}|=?[0-7]{3,5}|([ugoa]*[-+=][rwxXst]*,?)+)$`, spelt)
}

world_writable(mode) if regex.match(`(^|[^0-7])0?[0-7]?[0-7]{2}[2367]$`, mode)

world_writable(mode) if regex.match(`(^|[,=m])[ug]*[oa][ugoa]*[+=][rxXst]*w`, mode)

sets_id(mode) if regex.match(`(^|[^0-7])0?[24567][0-7]{3}$`, mode)

sets_id(mode) if regex.match(`(^|[,=m])[ugoa]*[+=][rwxXt]*s`, mode)
