package bailiff

# METADATA
# title: Paths that a table names
# description: |
#   A path is looked up by itself and by each folder above it. The deepest entry counts,
#   so that an exception can stand below a rule. The last name and the last two names of
#   a path are looked up too, for files that are the same wherever they lie, and the
#   last two of its folder. Only a path with wildcards is compared with the whole table.
#   Each path is split into its folder, up to the last slash, and its name, so that a
#   folder is looked up once, however many of its files are named.
_located := {kind: spots |
	some kind, paths in {"reads": _reads, "writes": _writes}
	count(paths) > 0
	spots := [[path, folder, base] |
		some path in paths
		folder := regex.replace(path, `[^/]*$`, "")
		some base in _bases(kind, trim_prefix(path, folder))
	]
}

# A copy of a file, packed or kept by an editor, holds what the file holds.
_bases(kind, base) := {base, regex.replace(base, _of_copies, "")} if {
	kind == "reads"
	regex.match(_of_copies, base)
} else := {base}

_of_copies := `(\.(bak|backup|old|orig|save|saved|copy|swp|tmp|gz|bz2|xz|zst|lz4|Z|[0-9]+)|~)$`

_named_paths contains [kind, class, path] if {
	some kind, spots in _located
	some [path, folder, base] in spots
	some shape, inherited in _around(kind, folder)
	class := object.get(data.bailiff.tables.paths[kind].folders, concat("", [shape, base]), inherited)
	class != "free"
}

# To make an empty folder, or to set a time, changes nothing that starts.
_named_paths contains ["writes", "startup", path] if {
	some [path, _, _] in _located.writes
	regex.match(`^(~|/home/|/Users/|/root/)`, path)
	some shape in _forms(path)
	_kept_for_programs(shape)
	not _only_made(path)
}

_only_made(path) if {
	writers := {call.program | some call in _calls; path in call.writes}
	count(writers) > 0
	every writer in writers {
		writer in {"mkdir", "touch", "rmdir"}
	}
}

# Files in a folder of such a name, in any place.
_named_paths contains [kind, class, path] if {
	some kind, spots in _located
	count(data.bailiff.tables.paths[kind].inside) > 0
	some [path, folder, _] in spots
	contains(folder, ".")
	some part in split(folder, "/")
	startswith(part, ".")
	class := data.bailiff.tables.paths[kind].inside[part]
}

# A home itself.
_named_paths contains [kind, class, path] if {
	some kind, spots in _located
	some [path, folder, _] in spots
	_above_home[folder]
	regex.match(`^(/home/|/Users/|/root$|~)`, path)
	some class in _classes_of(kind, path)
}

_named_paths contains [kind, class, path] if {
	some kind, spots in _located
	some [path, _, base] in spots
	class := data.bailiff.tables.paths[kind].names[base]
}

_named_paths contains [kind, class, path] if {
	some kind, spots in _located
	some [path, folder, base] in spots
	class := data.bailiff.tables.paths[kind].names[concat("", [_last_of(folder), base])]
}

# What lies in a folder with such a name of two.
_named_paths contains [kind, class, path] if {
	some kind, spots in _located
	some [path, folder, _] in spots
	class := data.bailiff.tables.paths[kind].names[trim_suffix(regex.find_n(`[^/]+/[^/]+/$`, folder, 1)[0], "/")]
}

_named_paths contains [kind, class, path] if {
	some kind, spots in _located
	count(data.bailiff.tables.paths[kind].suffixes) > 0
	some [path, _, base] in spots
	contains(base, ".")
	class := data.bailiff.tables.paths[kind].suffixes[regex.replace(base, `^.*\.`, "")]
}

_named_paths contains [kind, class, path] if {
	some kind, spots in _located
	some [path, _, _] in spots
	regex.match(`[*?\[{]`, path)
	some class in _by_pattern(kind, path)
}

# Disks, and memory of processes.
_named_paths contains [kind, class, path] if {
	some kind, spots in _located
	some [path, folder, _] in spots
	regex.match(`^/(dev|proc)/`, folder)
	some pattern, class in data.bailiff.tables.paths[kind].patterns
	regex.match(pattern, path)
}

_above_home := {"": true, "/": true, "/home/": true, "/Users/": true}
