package bailiff

# METADATA
# title: Packing folders with secrets
# description: |
#   Programs that pack or search whole folders read the secrets in them.
_examined.packs contains _found("credentials", path) if {
	some call in _calls_of.packs
	some path in call.reads
	data.bailiff.tables.paths.holders[path]
}

_examined.packs_if_told contains _found("credentials", path) if {
	some call in _calls_of.packs_if_told
	_told_to_pack(call)
	some path in call.reads
	data.bailiff.tables.paths.holders[path]
}

_told_to_pack(call) if _recursive(call)

_told_to_pack(call) if "-a" in call.flags
