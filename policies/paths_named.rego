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
_named_paths contains ["reads", class, path] if {
	some path in _reads
	some class in _named_as("reads", path)
}

_named_paths contains ["writes", class, path] if {
	some path in _writes
	some class in _named_as("writes", path)
}

# A call that nothing describes may read what it is given. It is supposed to write only what no program is given to read.
_named_paths contains [kind, class, path] if {
	some path in _touches
	some kind in ["reads", "writes"]
	some class in _named_as(kind, path)
	_counts_of_touched(kind, class)
}

_counts_of_touched("reads", _)

_counts_of_touched("writes", class) if data.bailiff.tables.touched[class]

# What a path is, apart from what stands beside it. A name that no table has is what others with its ending are in its folder.
_named_as(kind, path) := _unnamed(kind, folder, ending) if {
	not regex.match(_telling, path)
	[[_, folder, base, ending]] := regex.find_all_string_submatch_n(`^((?:.*/)?)([^/.]*|[^/]*(\.[^/.]*))$`, path, 1)
	not _is_last_name(kind, base)
} else := _named_fully(kind, path)

_named_fully(kind, path) := union({
	_as_placed(kind, folder, bases),
	_as_named(kind, folder, bases),
	_in_a_folder(kind, folder),
	_as_a_home(kind, path, folder),
	_as_a_folder_of_settings(kind, path),
	{class | regex.match(`[*?\[{]`, path); some class in _by_pattern(kind, path)},
	_as_a_device(kind, path, folder),
	_by_ending_there(kind, folder, path),
	_among_secrets(kind, folder, path),
	{class | kind == "reads"; some class in _unplaced(path)},
}) if {
	folder := regex.replace(path, `[^/]*$`, "")
	bases := _bases(kind, trim_prefix(path, folder))
}

# Wildcards, a folder, a device, a home, its settings, a folder that is not known, a copy.
_telling := concat("|", [
	`[*?\[{\n]|/$|^/(dev|proc)/|^~[^/]*$|^/root$|^/(home|Users)/[^/]*$|/\.(config|local(/share)?)$|^\$|^\.\./|^\.\.$`,
	_of_copies,
])

# What a name that no table has is in a folder.
_unnamed(kind, folder, ending) := union({
	{class | not _is_apart(kind, folder); some class in _around(kind, folder); class != "free"},
	_in_a_folder(kind, folder),
	{class | ending != ""; class := data.bailiff.tables.paths[kind].suffixes[trim_prefix(ending, ".")]},
	_by_ending_there(kind, folder, ending),
	_among_secrets(kind, folder, ending),
})

# What lies in a folder that is called after secrets, unless it is a program's text or a page about them.
_among_secrets("reads", folder, path) := {"credentials" |
	regex.match(`(?i)(^|/)\.?(secrets?|credentials?|creds|private[-_]?keys?)/$`, folder)
	not data.bailiff.tables.paths.texts[regex.replace(path, `^.*\.`, "")]
}

_among_secrets("writes", _, _) := set()

# What an ending means in some folders alone. Python runs lines of these files whenever it starts in that environment; policies are
# such, wherever their folder lies.
_by_ending_there(kind, folder, path) := {class |
	kind == "writes"
	strings.any_suffix_match(path, [".pth", ".rego"])
	some ending, [pattern, class] in {
		".pth": [`(^|/)(site|dist)-packages/$`, "startup"],
		".rego": [`(^|/)(policies|bailiff)/`, "own_settings"],
	}
	endswith(path, ending)
	regex.match(pattern, folder)
}

# Whether a path in the tables ends with a name.
_is_last_name(kind, name) if contains(_paths_of_tables[kind], concat("", ["/", name, "\n"]))

# The paths in the tables, each on a line and behind a slash.
_paths_of_tables := {kind: concat("", ["/", concat("\n/", object.keys(table.folders) | object.keys(table.names)), "\n"]) |
	some kind in ["reads", "writes"]
	table := data.bailiff.tables.paths[kind]
}

# A copy of a file, packed or kept by an editor, holds what the file holds.
_bases(kind, base) := {base, regex.replace(base, _of_copies, "")} if {
	kind == "reads"
	regex.match(_of_copies, base)
} else := {base}

_of_copies := `(\.(bak|backup|old|orig|save|saved|copy|swp|tmp|gz|bz2|xz|zst|lz4|Z|[0-9]+)|~)$`

_as_placed(kind, folder, bases) := {class |
	not _is_apart(kind, folder)
	some shape, inherited in _around(kind, folder)
	some base in bases
	class := object.get(data.bailiff.tables.paths[kind].folders, concat("", [shape, base]), inherited)
	class != "free"
}

# To make an empty folder, or to set a time, changes nothing that starts.
_named_paths contains ["writes", "startup", path] if {
	some path in _writes
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
	count(writers & {"touch"}) * count(_features & {"redirect"}) == 0 # a block of calls may fill the same file
}

# The last name, the last two; an ending.
_as_named(kind, folder, bases) := {class |
	last := _last_of(folder)
	some base in bases
	some name in [base, concat("", [last, base])]
	class := data.bailiff.tables.paths[kind].names[name]
} | {class |
	some base in bases
	contains(base, ".")
	class := data.bailiff.tables.paths[kind].suffixes[regex.replace(base, `^.*\.`, "")]
}

# The last two names of the folder; a folder of such a name in any place.
_in_a_folder(kind, folder) := {class |
	some names in regex.find_n(`[^/]+/[^/]+/$`, folder, 1)
	class := data.bailiff.tables.paths[kind].names[trim_suffix(names, "/")]
} | {class |
	contains(folder, ".")
	some part in split(folder, "/")
	startswith(part, ".")
	class := data.bailiff.tables.paths[kind].inside[part]
}

_as_a_home(kind, path, folder) := {class |
	_above_home[folder]
	regex.match(`^(/home/|/Users/|/root$|~)`, path)
	some class in _classes_of(kind, path)
}

# The folders of a home where programs keep their settings hold those with keys.
_as_a_folder_of_settings(kind, path) := {class |
	kind == "reads"
	regex.match(`^(~[^/]*|/home/[^/]+|/Users/[^/]+|/root)/(\.config|\.local(/share)?)$`, path)
	class := "credentials"
}

_above_home := {"": true, "/": true, "/home/": true, "/Users/": true}

# Disks, and memory of processes. A folder of devices that no table has holds disks, as that of a group of volumes does.
_as_a_device(kind, path, folder) := {class |
	regex.match(`^/(dev|proc)/`, folder)
	some pattern, class in data.bailiff.tables.paths[kind].patterns
	regex.match(pattern, path)
} | {"device" |
	kind == "writes"
	some found in regex.find_n(`^/dev/[^/]+/`, path, 1)
	not data.bailiff.tables.paths.writes.folders[trim_suffix(found, "/")]
}
