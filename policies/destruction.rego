package bailiff

# METADATA
# title: What a request deletes
# description: |
#   Deleting the system, a home or a disk is denied everywhere. Deleting folders, or
#   names that match a pattern, is asked about. Deleting files by name is ordinary work.
_examined.deletes contains _found("destroys", path) if {
	some call in _calls_of.deletes
	_recursive(call)
	some path in call.writes
	_root_folder(path)
}

# Without recursion a pattern still empties a folder of its files.
_examined.deletes contains _found("destroys", path) if {
	some call in _calls_of.deletes
	some path in call.writes
	_wild(path)
	_root_folder(path)
}

# Some programs take folders whole, without an option.
_examined.deletes_folders contains _found("destroys", path) if {
	some call in _calls_of.deletes_folders
	some path in call.writes
	_root_folder(path)
}

_examined.deletes contains _found("deletes_recursively", _seen(call, target)) if {
	some call in _calls_of.deletes
	call.program != "rmdir"
	_recursive(call)
	not _deletes_built(call)
	some target in call.operands
	not _fresh(target)
}

_examined.deletes contains _found("deletes_by_pattern", _seen(call, target)) if {
	some call in _calls_of.deletes
	not _recursive(call)
	not _deletes_built(call)
	some target in call.operands
	_wild(target)
}

# The names that arrive on standard input, or from a search, are not in the text.
_examined.deletes contains _found("deletes_by_pattern", "") if {
	some call in _calls_of.deletes
	some wrapper in call.wrappers
	_has_trait(wrapper, "supplies")
}

# A folder that the text itself made by mktemp, where nothing was moved into it.
_fresh(target) if {
	regex.match(`^/tmp/tmp\.\$\([0-9]+\)$`, target)
	count({call | some call in _calls; _moves(call)}) == 0
}

_moves(call) if call.program in {"mv", "rename", "gio", "mmv", "vidir", "mount", "bindfs", "perl", "zip"}

_moves(call) if count({"--remove-files", "--remove-source-files"} & {flag | some flag in call.flags}) > 0

# An operand that a search or a list replaces says nothing of the names.
_seen(call, _) := "" if _supplied(call)

_seen(call, target) := target if not _supplied(call)

_recursive(call) if {
	some flag in call.flags
	flag in {"-r", "-R", "--recursive"}
}

_recursive(call) if {
	some flag in call.flags
	startswith(flag, "--rec")
}
