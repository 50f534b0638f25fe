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
}

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
