package bailiff

# METADATA
# title: Searches that delete
# description: |
#   A search deletes by an option of its own or by a program that it starts for each
#   name.
_searches := [call | some call in _calls_of.searches; _search_deletes(call)]

_search_deletes(call) if "-delete" in call.argv

_search_deletes(call) if {
	some action in {"-exec", "-execdir", "-ok", "-okdir"}
	action in call.argv
	some inner in _calls_of.deletes
	"find" in inner.wrappers
}

_examined.searches contains _found("deletes_recursively", _spelt(call)) if {
	some call in _searches
	not _seeks_built(call)
}

_examined.searches contains _found("deletes_built", _spelt(call)) if {
	some call in _searches
	_seeks_built(call)
}

# METADATA
# title: Searches for what a build makes
# description: |
#   One folder of the project, names that nothing but a build gives, and behind these what deletes: every word is one of
#   such a search.
_seeks_built(call) if {
	regex.match(`^[A-Za-z0-9_./-]+$`, call.argv[1])
	not regex.match(`^[-/]|\.\.`, call.argv[1])
	startswith(call.argv[2], "-")
	count(call.reads) > 0
	every folder in call.reads {
		_in_project(concat("", [folder, "/"]))
	}
	names := {call.argv[position + 1] | some position, word in call.argv; word == "-name"}
	count(names) > 0
	every name in names {
		data.bailiff.tables.disposable[name]
		regex.match(`^(__|\.|\*|node_modules$)`, name)
	}
	every word in array.slice(call.argv, 2, count(call.argv)) {
		_of_such_a_search(word, names)
	}
	_first(call.argv, {"-name"}) < _first(call.argv, {"-delete", "-exec", "-execdir"})
}

_of_such_a_search(word, names) if word in names

_of_such_a_search(word, _) if {
	word in {
		"-name", "-type", "d", "f", "-maxdepth", "-mindepth", "-depth", "-prune", "-print", "-print0", "-delete", "-exec",
		"-execdir", "rm", "-r", "-f", "-rf", "-fr", "-R", "-Rf", "-v", "{}", "+", ";",
	}
}

_of_such_a_search(word, _) if regex.match(`^[0-9]$`, word)

_first(words, sought) := min([position | some position, word in words; word in sought])

# Without a test by name or date a search finds everything.
_examined.searches contains _found("destroys", folder) if {
	some call in _searches
	count({word | some word in call.argv} & _selecting) == 0
	some folder in array.concat(call.argv, call.reads)
	_folder_of_search(folder)
}

_selecting := {
	"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin", "-ctime", "-cmin", "-atime",
	"-amin", "-newer", "-size", "-empty", "-user", "-group", "-perm", "-inum", "-samefile", "-links", "-nouser", "-nogroup",
}

_folder_of_search(folder) if {
	startswith(folder, "/")
	_root_folder(_trim_suffix_slash(folder))
}

_folder_of_search(folder) if {
	startswith(folder, "~")
	_root_folder(_trim_suffix_slash(folder))
}

_trim_suffix_slash("/") := "/"

_trim_suffix_slash(path) := trim_right(path, "/") if path != "/"
