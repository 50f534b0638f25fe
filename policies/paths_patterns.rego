package bailiff

# METADATA
# title: Paths with wildcards
# description: |
#   A path with wildcards may mean any entry that it matches, or that lies below it.
_by_pattern(kind, path) := _pattern_folders(kind, path) | _pattern_names(kind, path) if {
	regex.match(`[*?\[{]`, path)
} else := set()

_pattern_folders(kind, path) := set() if {
	_is_apart(kind, path)
} else := set() if {
	not _anchored(path)
} else := _folders_within(kind, _shapes(path)) | _folders_above(kind, _shapes(path))

# A pattern means no folder but those that begin with its text before the first wildcard,
# and those that this text lies below.
_folders_within(kind, shapes) := set() if {
	not strings.any_prefix_match(_folder_names[kind], {_literal(shape) | some shape in shapes})
} else := {class |
	literals := {_literal(shape) | some shape in shapes}
	some folder, class in data.bailiff.tables.paths[kind].folders
	strings.any_prefix_match(folder, literals)
	class != "free"
	some shape in shapes
	_could_mean(shape, folder)
}

_folder_names := {kind: object.keys(paths.folders) | some kind, paths in data.bailiff.tables.paths}

_folders_above(kind, shapes) := {class |
	some shape in shapes
	parts := split(_literal(shape), "/")
	some depth in numbers.range(1, count(parts) - 1)
	folder := concat("/", array.slice(parts, 0, depth))
	class := data.bailiff.tables.paths[kind].folders[folder]
	class != "free"
	_could_mean(shape, folder)
}

_literal(shape) := regex.split(`[*?\[{\\]`, shape)[0]

# A pattern for hidden names, or one that spares only letters, may mean a name that
# counts anywhere; "*.json" means what the folder holds, which the text does not tell.
_pattern_names(kind, path) := _pattern_endings(kind, regex.replace(path, `(?s)^.*\.`, "")) | {class |
	regex.match(`(^|/)(\.[^/]*|[^*/]*)$`, path)
	parts := split(path, "/")
	some class in (_names_meant(kind, parts[count(parts) - 1]) | _pairs_meant(kind, parts))
}

_names_meant(kind, base) := {class |
	some name, class in data.bailiff.tables.paths[kind].names
	glob.match(base, null, name)
}

_pairs_meant(kind, parts) := {class |
	count(parts) > 1
	some name, class in data.bailiff.tables.paths[kind].names
	contains(name, "/")
	glob.match(concat("/", array.slice(parts, count(parts) - 2, count(parts))), ["/"], name)
}

_pattern_endings(kind, ending) := {class |
	_wild(ending)
	_narrow(ending)
	some suffix, class in data.bailiff.tables.paths[kind].suffixes
	glob.match(ending, null, suffix)
}

# A pattern, what it is where "**" stands for no folder, and what it is in a home, if its
# first folders may mean one.
_shapes(path) := {path} if {
	not regex.match(`\*\*|^/[^/]*[*?\[\]{}\\!]|^/(home|Users|root)(/|$)`, path)
} else := ({path, replace(path, "/**/", "/")} | {shape |
	parts := split(path, "/")
	some top, depth in {"home": 3, "Users": 3, "root": 2}
	parts[0] == ""
	count(parts) >= depth
	parts[1] != "**"
	glob.match(parts[1], null, top)
	some shape in _in_home(parts[depth - 1], concat("/", array.slice(parts, depth, count(parts))))
}) | {shape |
	startswith(path, "/**/")
	some shape in _in_home("**", trim_prefix(path, "/**/"))
}

_in_home("**", rest) := {concat("/", ["~", rest]), concat("/", ["~/**", rest])}

_in_home(folder, rest) := {trim_suffix(concat("/", ["~", rest]), "/")} if folder != "**"

# Files below a folder that is not known belong to the workspace. In folders of any depth,
# where every name counts, or every one of a kind ("*.json"), secrets are meant only
# where they are said to lie.
_anchored(path) if {
	regex.match(`^[/~]`, path)
	not contains(path, "**")
}

_anchored(path) if {
	regex.match(`^[/~].*\*\*`, path)
	parts := split(path, "/")
	_meant(split(path, "/**")[0], parts[count(parts) - 1])
}

_meant(_, base) if regex.match(`[A-Za-z0-9]`, regex.replace(base, `^\*+\.[A-Za-z0-9]+$`, ""))

_meant(folder, base) if {
	not regex.match(`[A-Za-z0-9]`, base)
	data.bailiff.tables.paths.holders[folder]
}

_meant("", base) if not regex.match(`[A-Za-z0-9]`, base)

_narrow(base) if startswith(base, ".")

_narrow(base) if not contains(base, "*")

_wild(path) if regex.match(`[*?\[{]`, path)

_could_mean(path, folder) if glob.match(path, ["/"], folder)

# Paths below the folder.
_could_mean(path, folder) if {
	depth := count(split(folder, "/"))
	parts := split(path, "/")
	count(parts) > depth
	top := concat("/", array.slice(parts, 0, depth))
	_every_name(top, parts[count(parts) - 1])
	glob.match(top, ["/"], folder)
}

_every_name(top, _) if not contains(top, "**")

_every_name(_, base) if not regex.match(`[A-Za-z0-9]`, base)
