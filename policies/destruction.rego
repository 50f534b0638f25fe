# What a request deletes.
#
# Deleting the system, a home or a disk is denied everywhere; deleting folders or
# whatever matches a pattern is asked about; deleting files by name is ordinary work.

package bailiff

examined.deletes contains found("destroys", path) if {
	some call in calls_of.deletes
	recursive(call)
	some path in call.writes
	root_folder(path)
}

# Without recursion a pattern still empties a folder of its files.
examined.deletes contains found("destroys", path) if {
	some call in calls_of.deletes
	some path in call.writes
	wild(path)
	root_folder(path)
}

examined.deletes contains found("deletes_recursively", seen(call, target)) if {
	some call in calls_of.deletes
	call.program != "rmdir"
	recursive(call)
	some target in call.operands
}

examined.deletes contains found("deletes_recursively", spelt(call)) if {
	some call in calls_of.deletes
	call.program != "rmdir"
	recursive(call)
	count(call.operands) == 0
}

examined.deletes contains found("deletes_by_pattern", seen(call, target)) if {
	some call in calls_of.deletes
	not recursive(call)
	some target in call.operands
	wild(target)
}

# Names that arrive on standard input, or from a search, are known to nobody here.
examined.deletes contains found("deletes_by_pattern", "") if {
	some call in calls_of.deletes
	some wrapper in call.wrappers
	data.bailiff.tables.suppliers[wrapper]
}

# What is handed over stands for names that nobody has seen.
seen(call, _) := "" if supplied(call)

seen(call, target) := target if not supplied(call)

recursive(call) if {
	some flag in call.flags
	flag in {"-r", "-R", "--recursive"}
}

recursive(call) if {
	some flag in call.flags
	startswith(flag, "--rec")
}

targets(call) := call.operands if count(call.operands) > 0

targets(call) := [call.program] if count(call.operands) == 0

# The searches that delete what they find.
searches := [call | some call in calls_of.searches; search_deletes(call)]

search_deletes(call) if "-delete" in call.argv

search_deletes(call) if {
	some action in {"-exec", "-execdir", "-ok", "-okdir"}
	action in call.argv
	some inner in calls_of.deletes
	"find" in inner.wrappers
}

examined.searches contains found("deletes_recursively", spelt(call)) if {
	some call in searches
}

# Without a test by name or date a search finds everything.
examined.searches contains found("destroys", folder) if {
	some call in searches
	count({word | some word in call.argv} & selecting) == 0
	some folder in call.argv
	folder_of_search(folder)
}

selecting := {
	"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin", "-ctime", "-cmin", "-atime",
	"-amin", "-newer", "-size", "-empty", "-user", "-group", "-perm", "-inum", "-samefile", "-links", "-nouser", "-nogroup",
}

folder_of_search(folder) if {
	startswith(folder, "/")
	root_folder(trim_suffix_slash(folder))
}

folder_of_search(folder) if {
	startswith(folder, "~")
	root_folder(trim_suffix_slash(folder))
}

trim_suffix_slash("/") := "/"

trim_suffix_slash(path) := trim_right(path, "/") if path != "/"

# Permissions and owners of the whole system are as good as gone after a change.
examined.permits contains found("destroys", path) if {
	some call in calls_of.permits
	recursive(call)
	some path in call.writes
	root_folder(path)
}

# Moving the system away, or letting an empty folder overwrite it.
examined.moves contains found("destroys", path) if {
	some call in calls_of.moves
	some path in array.slice(call.operands, 0, count(call.operands) - 1)
	root_folder(path)
}

examined.copies_over contains found("destroys", path) if {
	some call in calls_of.copies_over
	some flag in call.flags
	startswith(flag, "--del")
	some path in call.writes
	root_folder(path)
}

# A mkfs of a regular file only writes that file.
examined.mkfs contains found("formats", target) if {
	some call in calls_of.mkfs
	not harmless(call)
	some target in targets(call)
	device_like(target)
}

device_like(target) if startswith(target, "/dev/")

device_like(target) if startswith(target, "$")

device_like(target) if not contains(target, "/")

# SQL is read from the whole text once a client of a database is called.
examined.queries contains found("sql", spelt(call)) if {
	some call in calls_of.queries
	count(statements(concat(" ", call.argv))) > 0
}

# What a client reads elsewhere is not told by its words.
examined.queries contains found("sql", "") if {
	given := {statement |
		some call in calls_of.queries
		some statement in statements(concat(" ", call.argv))
	}
	count(statements(command.text) - given) > 0
}

statements(text) := {statement |
	some statement in regex.find_n(destructive_sql, regex.replace(lower(text), `/\*[^*]*\*/`, " "), -1)
}

# Commands of a database's client that start a shell.
examined.queries contains found("inline", spelt(call)) if {
	some call in calls_of.queries
	some word in call.argv
	regex.match(`(?i)(^|[\s;])\\!|\b(to|from)\s+program\s+'|^\s*(\.(shell|system)|system)\s`, word)
}

examined.program contains found("sql", "") if {
	some module in code.imports
	data.bailiff.tables.code_databases[module]
	some text in code.strings
	regex.match(destructive_sql, lower(text))
}

destructive_sql := concat("|", [
	`\bdrop\s+(table|database|schema|view|index|user|role|keyspace|collection|type|sequence)\b`,
	`\btruncate\s+(table\s+)?[\w."]+`,
	`\bdelete\s+from\s+[\w."]+\s*([;"')]|$|\n|where\s+(1|true)\b)`,
	`\balter\s+table\s+[\w."]+\s+drop\b`,
	`\bflush(all|db)\b|\bdropdatabase\(|\.drop\(\)|\bdeletemany\(\s*\{\s*\}`,
])
