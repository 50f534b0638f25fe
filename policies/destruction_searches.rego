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
#   One folder of the project, names that nothing but a build gives, and behind these what deletes what is found.
_seeks_built(call) if {
	regex.match(`^(\.|(\./)?[A-Za-z0-9_][A-Za-z0-9_./-]*)$`, call.argv[1])
	not contains(call.argv[1], "..")
	count(call.reads) > 0
	every folder in call.reads {
		_in_project(concat("", [folder, "/"]))
	}
	every position, word in call.argv {
		not contains(word, " ")
		_is_built(call.argv, position)
	}
	regex.match(
		concat("", [
			`^((-type [df]|-m(ax|in)depth [0-9]|-depth|-prune|-print|-name [^ ]+) )*-name [^ ]+ `,
			`((-type [df]|-depth|-prune|-print|-name [^ ]+) )*(-delete|-exec(dir)? rm( -[rRfv]+)* \{\} [+;])$`,
		]),
		concat(" ", array.slice(call.argv, 2, count(call.argv))),
	)
}

# Any word but those behind -name may stand anywhere as far as this goes.
_is_built(words, position) if words[position - 1] != "-name"

_is_built(_, 0)

_is_built(words, position) if {
	name := words[position]
	data.bailiff.tables.disposable[name]
	regex.match(`^(__|\.|\*|node_modules$)`, name)
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
