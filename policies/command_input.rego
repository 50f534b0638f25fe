package bailiff

# METADATA
# title: What a call is given by others
# description: |
#   Says whether a call gets names from a search or from standard input, or its input
#   from something that the text does not show.
_supplied(call) if {
	some wrapper in call.wrappers
	_supplies(wrapper)
}

# What comes by standard input, from a file or a pipe, may be what is run.
_fed(call) if {
	_features.redirect
	some path in call.reads
	not _stands_in(path, call)
}

_fed(call) if {
	some other in _piped
	other.pipes_to == call.program
}

# Whether a path is a word of the call, or the end or beginning of one.
_stands_in(path, call) if {
	some word in call.argv
	some before in ["/", "@", "=", "<"]
	contains(concat("", ["=", word, ":"]), concat("", [before, path, ":"]))
}

_supplies("find")

_supplies(wrapper) if _has_trait(wrapper, "supplies")
