package bailiff

# METADATA
# title: Where a request runs
# description: |
#   The wish of the request counts if a candidate has its name. Otherwise it is the best
#   candidate or, where the table says `take: ready`, the first that is ready among
#   those that isolate as the best one does; the best one if none is ready.
_wish := _known_as(input.backend.requested)

_row_of_wish := _said_of(data.bailiff.tables.sandboxes, _wish)

default _wish_granted := false

_wish_granted if {
	some [_, name] in _eligible
	name == _wish
}

default _chosen := ""

_chosen := _wish if _wish_granted

_chosen := _offer if not _wish_granted

# The backend of a request without a wish, or with one that cannot be met.
_offer := min(_ready_alike)[1] if {
	count(_ready_alike) > 0
} else := _best

_best := min(_eligible)[1]

_ready_alike contains [rank, name] if {
	_taking == "ready"
	some [rank, name] in _eligible
	input.backend.available[name].ready == true
	_alike(name)
}

_taking := _chat.take

_taking := _platform.take if not _chat.take

_alike(name) if {
	_isolates(name)
	_isolates(_best)
}

_alike(name) if {
	not _isolates(name)
	not _isolates(_best)
}

# A finding is judged by the place it would happen in: the host, or a sandbox with what was
# opened of it.
_places contains _place

default _place := "host"

_place := "sandbox" if _isolates(_chosen)

_places contains "networked" if {
	_isolates(_chosen)
	_network in {"egress", "full"}
}

_places contains "shared" if {
	_isolates(_chosen)
	some mount in _shown
	_may_write(mount)
}
