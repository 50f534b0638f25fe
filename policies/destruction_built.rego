package bailiff

# METADATA
# title: Built things that a request deletes
# description: |
#   What a build makes can be made again. The table of disposable names tells it, for names that stand as they are
#   in a working folder that is known, no home and no part of the system.
_examined.deletes contains _found("deletes_built", target) if {
	some call in _calls_of.deletes
	_deletes_built(call)
	some target in call.operands
	_gone_whole(call, target)
}

_deletes_built(call) if {
	count(call.operands) > 0
	not _supplied(call)
	every operand in call.operands {
		_may_go(call, operand)
	}
	count(call.writes) > 0
	every path in call.writes {
		_in_project(path)
	}
}

# What a search for built things finds.
_deletes_built(call) if {
	"find" in call.wrappers
	count(_searches) > 0
	every search in _searches {
		_seeks_built(search)
	}
}

_may_go(_, operand) if data.bailiff.tables.disposable[trim_prefix(operand, "./")]

# A file of the folder, by its name, beside what a build makes.
_may_go(call, operand) if {
	not _recursive(call)
	regex.match(`^(\./)?[A-Za-z0-9_][A-Za-z0-9_.-]*$`, operand)
}

# Deleted by name alone a file is like any other.
_gone_whole(call, _) if _recursive(call)

_gone_whole(_, target) if _wild(target)

_in_project(path) if {
	folder := regex.replace(path, `/[^/]*$`, "")
	regex.match(`^(/|~/)[^$]`, folder)
	not regex.match(`^/(var/)?tmp(/|$)`, folder)
	not regex.match(`[*?\[{]`, folder)
	not _root_folder(folder)
	not _above_home[concat("", [folder, "/"])]
}
