package bailiff

# METADATA
# title: The folders above a path
# description: |
#   The spellings of a folder, and the class that holds in it unless an entry of its own
#   says otherwise. A folder of the workspace has none.
_around(kind, folder) := {shape: inherited |
	regex.match(`^[/~]`, folder)
	some shape in _forms(folder)
	inherited := _near_or_free(kind, array.slice(split(shape, "/"), 0, count(split(shape, "/")) - 1))
}

# Whether a path lies in a folder of the root in which the tables name nothing but what is free, so that no folder says what it is.
default _is_apart(_, _) := false

_is_apart(kind, path) if {
	some top in regex.find_n(`^/[^/*?\[\]{}\\!]+/`, path, 1)
	not contains(_tops[kind], concat("", ["\n", top]))
	not data.bailiff.tables.paths[kind].folders[""]
}

# The folders of which the tables name something, and those of the homes, each on a line.
_tops := {kind: concat("", ["\n/home/\n/Users/\n/root/\n", concat("/\n", object.keys(folders) - free), "/\n"]) |
	some kind in ["reads", "writes"]
	folders := data.bailiff.tables.paths[kind].folders
	free := {folder | some folder, "free" in folders}
}

_last_of(folder) := regex.find_n(`[^/]*/$|$`, folder, 1)[0]

default _near_or_free(_, _) := "free"

_near_or_free(kind, parts) := _nearest(kind, parts)

# What lies in the root itself.
_near_or_free(kind, [""]) := data.bailiff.tables.paths[kind].folders["/"]

# The entry of the deepest folder that has one.
_nearest(kind, parts) := [class |
	some length in numbers.range(count(parts), 1)
	class := data.bailiff.tables.paths[kind].folders[concat("/", array.slice(parts, 0, length))]
][0]

# The home of a user, spelt out, is a home like "~".
_forms(path) := {path} if {
	not regex.match(`^(/(home|Users)/[^/]|/root(/|$)|~[^/])`, path)
} else := {path, concat("", ["~", trim_prefix(path, "/root")])} if {
	startswith(path, "/root")
} else := {path, concat("/", array.concat(["~"], array.slice(split(path, "/"), 1, 1000)))} if {
	startswith(path, "~")
} else := {path, concat("/", array.concat(["~"], array.slice(split(path, "/"), 3, 1000)))}

# Programs keep their files in a home under names that begin with a dot, and read most of
# them when they start. The table may say otherwise of an entry.
_kept_for_programs(path) if {
	startswith(path, "~/.")
	parts := split(path, "/")
	not parts[1] in {".", ".."}
	not _nearest("writes", parts)
}

# METADATA
# title: The classes of one path
# description: |
#   For paths that only a part of a text names, such as the word of a script.
_classes_of(kind, path) := (_by_pattern(kind, path) | {class |
	some form in _forms(path)
	some class in _named(kind, split(form, "/"))
}) | {"startup" |
	kind == "writes"
	some form in _forms(path)
	_kept_for_programs(form)
}

_named(kind, parts) := union({_near(kind, parts), _by_name(kind, parts), _by_suffix(kind, parts)})

_near(kind, parts) := {class | class := _nearest(kind, parts); class != "free"} | {class |
	count(parts) == 2
	class := _near_or_free(kind, array.slice(parts, 0, 1))
	class != "free"
	not _nearest(kind, parts)
}

_by_name(kind, parts) := {class |
	some length in [1, 2]
	tail := concat("/", array.slice(parts, count(parts) - length, count(parts)))
	class := data.bailiff.tables.paths[kind].names[tail]
}

_by_suffix(kind, parts) := {class |
	dotted := split(parts[count(parts) - 1], ".")
	count(dotted) > 1
	class := data.bailiff.tables.paths[kind].suffixes[dotted[count(dotted) - 1]]
}
