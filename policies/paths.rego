package bailiff

# METADATA
# title: What a request reads and writes
# description: |
#   A finding for each path that a table names.
_examined.paths contains _found(class, path) if {
	some ["writes", class, path] in _named_paths
}

_examined.paths contains _found(class, path) if {
	some ["reads", class, path] in _named_paths
	not _only_looked_at(path)
}

_examined.brings contains _found("own_settings", path) if {
	some call in _calls_of.brings
	some path in call.writes
	regex.match(`(^|/)(policies|bailiff)$`, path)
	some brought in call.reads
	endswith(brought, ".rego")
}

# Programs that show a name or a date of a file do not show what is in it.
_only_looked_at(path) if {
	readers := {call.program | some call in _calls; path in call.reads}
	count(readers) > 0
	every reader in readers {
		_has_trait(reader, "looks")
	}
}
