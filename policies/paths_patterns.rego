package bailiff

# METADATA
# title: Paths with wildcards
# description: |
#   A path with wildcards may mean any entry that it matches, or that lies below it.
_by_pattern(kind, path) := set() if {
	not _wild(path)
} else := _pattern_folders(kind, path) | _pattern_names(kind, path)

_pattern_folders(kind, path) := {class |
	some folder, class in data.bailiff.tables.paths[kind].folders
	class != "free"
	some shape in _shapes(path)
	_could_mean(shape, folder)
}

# A pattern for hidden names, or one that spares only letters, may mean a name that
# counts anywhere; "*.json" means what the folder holds, which the text does not tell.
_pattern_names(kind, path) := ({class |
	parts := split(path, "/")
	base := parts[count(parts) - 1]
	_narrow(base)
	some name, class in data.bailiff.tables.paths[kind].names
	glob.match(base, null, name)
} | {class |
	parts := split(path, "/")
	count(parts) > 1
	_narrow(parts[count(parts) - 1])
	some name, class in data.bailiff.tables.paths[kind].names
	contains(name, "/")
	glob.match(concat("/", array.slice(parts, count(parts) - 2, count(parts))), ["/"], name)
}) | {class |
	dotted := split(path, ".")
	ending := dotted[count(dotted) - 1]
	_wild(ending)
	_narrow(ending)
	some suffix, class in data.bailiff.tables.paths[kind].suffixes
	glob.match(ending, null, suffix)
}

# A pattern and what it is in a home, if its first folders may mean one.
_shapes(path) := {path} | {shape |
	parts := split(path, "/")
	some top, depth in {"home": 3, "Users": 3, "root": 2}
	parts[0] == ""
	count(parts) >= depth
	glob.match(parts[1], null, top)
	shape := concat("/", array.concat(["~"], array.slice(parts, depth, count(parts))))
}

_narrow(base) if startswith(base, ".")

_narrow(base) if not contains(base, "*")

_wild(path) if regex.match(`[*?\[{]`, path)

_could_mean(path, folder) if glob.match(path, ["/"], folder)

_could_mean(path, folder) if {
	depth := count(split(folder, "/"))
	parts := split(path, "/")
	count(parts) > depth
	glob.match(concat("/", array.slice(parts, 0, depth)), ["/"], folder)
}
