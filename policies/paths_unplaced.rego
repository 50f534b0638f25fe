package bailiff

# METADATA
# title: Paths that start at a folder that is not known
# description: |
#   "$X/.netrc" and "../../../etc/shadow" may lie anywhere: they count as what they are
#   in the root or in a home.
_unplaced(path) := {class |
	regex.match(`^(\$|\.\./|\.\.$)`, path)
	some rest in _rests(path)
	regex.match(`[A-Za-z0-9]`, rest)
	some top in {"", "~"}
	parts := split(concat("/", [top, rest]), "/")
	class := _nearest("reads", parts)
	class != "free"
}

# The rest behind the part that is not known, as it is and as seen from a home that it names.
_rests(path) := {rest, regex.replace(rest, `^(root|(home|Users)/[^/]+)/`, "")} if {
	rest := regex.replace(path, `^(\$[^/]*/|.*\.\./)+`, "")
	rest != path
} else := set()
