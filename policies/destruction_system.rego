package bailiff

# METADATA
# title: Formatting disks
# description: |
#   A mkfs of a regular file only writes that file.
_examined.mkfs contains _found("formats", target) if {
	some call in _calls_of.mkfs
	not _harmless(call)
	some target in _targets(call)
	_device_like(target)
}

_targets(call) := call.operands if count(call.operands) > 0

_targets(call) := [call.program] if count(call.operands) == 0

_device_like(target) if startswith(target, "/dev/")

_device_like(target) if startswith(target, "$")

_device_like(target) if not contains(target, "/")

# METADATA
# title: Systems that are lost without a deletion
# description: |
#   A system is lost too if all its permissions or owners change, if it is moved away,
#   or if an empty folder overwrites it.
_examined.permits contains _found(_lost_with(path), path) if {
	some call in _calls_of.permits
	_recursive(call)
	some path in call.writes
	_root_folder(path)
}

# A home itself is given back by moving it or by its rights: an owner may mean that, and it is a usual slip.
_lost_with(path) := "unseats_home" if {
	_own_home(path)
} else := "destroys"

_own_home(path) if regex.match(`^(~\w*|/root|/(home|Users)/\w[\w.-]*)/?$`, path)

# Moving the system away, or letting an empty folder overwrite it.
_examined.moves contains _found(_lost_with(path), path) if {
	some call in _calls_of.moves
	some path in array.concat(array.slice(call.operands, 0, count(call.operands) - 1), _moved(call))
	_root_folder(path)
}

# The paths of its operands, as the text means them.
_moved(call) := [path | some path in call.writes; _loses[path]]

_examined.copies_over contains _found("destroys", path) if {
	some call in _calls_of.copies_over
	some flag in call.flags
	startswith(flag, "--del")
	some path in call.writes
	_root_folder(path)
}

# A credential that lies under another name can then be read by that name.
_examined.moves contains _found(class, path) if {
	some call in _calls_of.moves
	some path in _moved(call)
	some form in _forms(path)
	some class in _near("reads", split(form, "/"))
}
