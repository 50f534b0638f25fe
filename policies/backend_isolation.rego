package bailiff

# METADATA
# title: Which backends isolate
# description: |
#   A platform says whether isolation is required. A chat can only be stricter.
_isolated_enough(name) if _isolates(name)

_isolated_enough(name) if {
	_isolation_optional
	input.backend.available[name]
}

_isolation_optional if {
	_platform.isolation == "optional"
	object.get(_chat, "isolation", "optional") == "optional"
}

_isolates(name) if {
	input.backend.available[name].isolated == true
	not _is_host(name)
}

_is_host(name) if _said_of(data.bailiff.tables.sandboxes, name).host
