# What a request reads and writes.
#
# A path is looked up by itself and by each folder above it; the deepest entry of
# the table counts, so that an exception can stand below a rule. The last name and
# the last two names of a path are looked up too, for files that are the same
# wherever they lie, and the last two of its folder. Only a path with wildcards is
# compared with the whole table.

package bailiff

# Every path with its folder, up to the last slash, and its name. What is asked of a
# folder is computed once, however many of its files are named.
located := {kind: spots |
	some kind, paths in {"reads": reads, "writes": writes}
	count(paths) > 0
	spots := [[path, folder, trim_prefix(path, folder)] |
		some path in paths
		folder := regex.replace(path, `[^/]*$`, "")
	]
}

named_paths contains [kind, class, path] if {
	some kind, spots in located
	some [path, folder, base] in spots
	some shape, inherited in around(kind, folder)
	class := object.get(data.bailiff.tables.paths[kind].folders, concat("", [shape, base]), inherited)
	class != "free"
}

# A home itself.
named_paths contains [kind, class, path] if {
	some kind, spots in located
	some [path, folder, _] in spots
	above_home[folder]
	regex.match(`^(/home/|/Users/|/root$|~)`, path)
	some class in classes_of(kind, path)
}

named_paths contains [kind, class, path] if {
	some kind, spots in located
	some [path, _, base] in spots
	class := data.bailiff.tables.paths[kind].names[base]
}

named_paths contains [kind, class, path] if {
	some kind, spots in located
	some [path, folder, base] in spots
	class := data.bailiff.tables.paths[kind].names[concat("", [last_of(folder), base])]
}

# What lies in a folder with such a name of two.
named_paths contains [kind, class, path] if {
	some kind, spots in located
	some [path, folder, _] in spots
	class := data.bailiff.tables.paths[kind].names[trim_suffix(regex.find_n(`[^/]+/[^/]+/$`, folder, 1)[0], "/")]
}

named_paths contains [kind, class, path] if {
	some kind, spots in located
	count(data.bailiff.tables.paths[kind].suffixes) > 0
	some [path, _, base] in spots
	contains(base, ".")
	class := data.bailiff.tables.paths[kind].suffixes[regex.replace(base, `^.*\.`, "")]
}

named_paths contains [kind, class, path] if {
	some kind, spots in located
	some [path, _, _] in spots
	regex.match(`[*?\[{]`, path)
	some class in by_pattern(kind, path)
}

above_home := {"": true, "/": true, "/home/": true, "/Users/": true}

# The spellings of a folder, and what holds in it unless an entry of its own says
# otherwise; a folder of the workspace has none.
around(kind, folder) := {shape: inherited |
	regex.match(`^[/~]`, folder)
	some shape in forms(folder)
	inherited := near_or_free(kind, array.slice(split(shape, "/"), 0, count(split(shape, "/")) - 1))
}

last_of(folder) := regex.find_n(`[^/]*/$|$`, folder, 1)[0]

default near_or_free(_, _) := "free"

near_or_free(kind, parts) := nearest(kind, parts)

examined.paths contains found(class, path) if {
	some ["writes", class, path] in named_paths
}

examined.paths contains found(class, path) if {
	some ["reads", class, path] in named_paths
	not only_looked_at(path)
}

# Policies, wherever their folder lies.
examined.paths contains found("own_settings", path) if {
	some path in writes
	endswith(path, ".rego")
	regex.match(`(^|/)(policies|bailiff)/`, path)
}

examined.brings contains found("own_settings", path) if {
	some call in calls_of.brings
	some path in call.writes
	regex.match(`(^|/)(policies|bailiff)$`, path)
	some brought in call.reads
	endswith(brought, ".rego")
}

# Programs that show a name or a date of a file do not show what is in it.
only_looked_at(path) if {
	readers := {call.program | some call in calls; path in call.reads}
	count(readers) > 0
	every reader in readers {
		data.bailiff.tables.lookers[reader]
	}
}

classes_of(kind, path) := by_pattern(kind, path) | {class |
	some form in forms(path)
	some class in named(kind, split(form, "/"))
}

named(kind, parts) := union({near(kind, parts), by_name(kind, parts), by_suffix(kind, parts)})

near(kind, parts) := {class | class := nearest(kind, parts); class != "free"}

by_name(kind, parts) := {class |
	some length in [1, 2]
	tail := concat("/", array.slice(parts, count(parts) - length, count(parts)))
	class := data.bailiff.tables.paths[kind].names[tail]
}

by_suffix(kind, parts) := {class |
	dotted := split(parts[count(parts) - 1], ".")
	count(dotted) > 1
	class := data.bailiff.tables.paths[kind].suffixes[dotted[count(dotted) - 1]]
}

# The entry of the deepest folder that has one.
nearest(kind, parts) := [class |
	some length in numbers.range(count(parts), 1)
	class := data.bailiff.tables.paths[kind].folders[concat("/", array.slice(parts, 0, length))]
][0]

# Somebody's home, spelt out, is a home like "~".
forms(path) := {path} if {
	not regex.match(`^(/(home|Users)/[^/]|/root(/|$)|~[^/])`, path)
} else := {path, concat("", ["~", trim_prefix(path, "/root")])} if {
	startswith(path, "/root")
} else := {path, concat("/", array.concat(["~"], array.slice(split(path, "/"), 1, 1000)))} if {
	startswith(path, "~")
} else := {path, concat("/", array.concat(["~"], array.slice(split(path, "/"), 3, 1000)))}

# A path with wildcards may mean any entry that it matches, or that lies below it.
by_pattern(kind, path) := set() if {
	not wild(path)
} else := pattern_folders(kind, path) | pattern_names(kind, path)

pattern_folders(kind, path) := {class |
	some folder, class in data.bailiff.tables.paths[kind].folders
	class != "free"
	could_mean(path, folder)
}

# A pattern for hidden names, or one that spares only letters, may mean a name that
# counts anywhere; "*.json" means what the folder holds, which nobody knows here.
pattern_names(kind, path) := {class |
	parts := split(path, "/")
	base := parts[count(parts) - 1]
	narrow(base)
	some name, class in data.bailiff.tables.paths[kind].names
	glob.match(base, null, name)
}

narrow(base) if startswith(base, ".")

narrow(base) if not contains(base, "*")

# A file written through a link that the text itself makes is the link's target.
examined.links contains found(class, through) if {
	some call in calls_of.links
	target := call.operands[0]
	regex.match(`^[/~]`, target)
	some link in call.writes
	some path in writes
	startswith(path, concat("", [link, "/"]))
	through := concat("", [trim_right(target, "/"), trim_prefix(path, link)])
	some class in classes_of("writes", through)
}

examined.links contains found(class, target) if {
	some call in calls_of.links
	target := call.operands[0]
	regex.match(`^[/~]`, target)
	some link in call.writes
	written_beside(call, link)
	some class in classes_of("writes", target)
}

written_beside(link, path) if {
	some other in calls
	other != link
	not data.bailiff.tables.lookers[other.program]
	path in other.writes
}

wild(path) if regex.match(`[*?\[{]`, path)

could_mean(path, folder) if glob.match(path, ["/"], folder)

could_mean(path, folder) if {
	depth := count(split(folder, "/"))
	parts := split(path, "/")
	count(parts) > depth
	glob.match(concat("/", array.slice(parts, 0, depth)), ["/"], folder)
}

# The folders that make up a system or a home: to delete one is to destroy it.
root_folder(path) if {
	some form in forms(path)
	data.bailiff.tables.paths.roots[form]
}

root_folder(path) if regex.match(`^/(home|Users)/[^/]+$`, path)

root_folder(path) if regex.match(`^~(/\.\.)+$`, path)

# A pattern of a folder that is not known ("*") means what that folder holds.
root_folder(path) if {
	wild(path)
	regex.match(`^[/~]`, path)
	some root, _ in data.bailiff.tables.paths.roots
	glob.match(path, ["/"], root)
}

# All that is in such a folder.
root_folder(path) if {
	wild(path)
	regex.match(`^[/~]`, path)
	parts := split(path, "/")
	base := parts[count(parts) - 1]
	not regex.match(`[A-Za-z0-9]`, regex.replace(base, `\[[^\]]*\]`, "*"))
	root_folder_itself(concat("/", array.slice(parts, 0, count(parts) - 1)))
}

root_folder_itself("")

root_folder_itself(path) if {
	some form in forms(path)
	data.bailiff.tables.paths.roots[form]
}

root_folder_itself(path) if regex.match(`^/(home|Users)/[^/]+$`, path)
