package bailiff

# METADATA
# title: Folders that make up a system or a home
# description: |
#   To delete one of them is to destroy the system or the home.
_root_folder(path) if {
	some form in _forms(path)
	data.bailiff.tables.paths.roots[form]
}

_root_folder(path) if regex.match(`^/(home|Users)/[^/]+$`, path)

_root_folder(path) if regex.match(`^~(/\.\.)+$`, path)

# A pattern of a folder that is not known ("*") means what that folder holds.
_root_folder(path) if {
	_wild(path)
	regex.match(`^[/~]`, path)
	some shape in _shapes(path)
	some root, _ in data.bailiff.tables.paths.roots
	glob.match(shape, ["/"], root)
}

# All that is in such a folder.
_root_folder(path) if {
	_wild(path)
	regex.match(`^[/~]`, path)
	parts := split(path, "/")
	base := parts[count(parts) - 1]
	not regex.match(`[^*?.{},]`, regex.replace(base, `\[[^\]]*\]`, "*"))
	_root_folder_itself(concat("/", array.slice(parts, 0, count(parts) - 1)))
}

_root_folder_itself("")

_root_folder_itself(path) if {
	some form in _forms(path)
	data.bailiff.tables.paths.roots[form]
}

_root_folder_itself(path) if regex.match(`^/(home|Users)/[^/]+$`, path)
