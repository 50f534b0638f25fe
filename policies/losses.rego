package bailiff

# METADATA
# title: Files that make up the system
# description: |
#   Without its accounts, its mounts or its kernel a system does not start, or lets
#   nobody log in. To delete, empty or move away such a file is to destroy the system;
#   to change one is asked about.
_examined.losses contains _found("destroys", path) if {
	some path in _loses
	data.bailiff.tables.paths.vital[path]
}

_examined.losses contains _found("destroys", path) if {
	some path in _loses
	startswith(path, "/boot/")
}

_examined.losses contains _found("destroys", path) if {
	some path in _loses
	regex.match(`^/[^*?\[{]*[*?\[{]`, path)
	_vital(path)
}

_vital(path) if data.bailiff.tables.paths.vital[path]

_vital(path) if startswith(path, "/boot/")

_vital(path) if {
	startswith(path, "/")
	_wild(path)
	strings.any_prefix_match(object.keys(data.bailiff.tables.paths.vital), _literal(path))
	some name, _ in data.bailiff.tables.paths.vital
	glob.match(path, ["/"], name)
}

# A folder that a program moves away.
_examined.losses contains _found("destroys", path) if {
	some path in _code.loses
	_root_folder(path)
}
