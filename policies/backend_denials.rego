package bailiff

# METADATA
# title: Requests without a backend
# description: |
#   Denies a request that no backend may serve, or whose wish could only be met by a
#   weaker place.
_faults contains {
	"rule": "backend.none",
	"message": "No configured backend may serve this platform.",
	"match": input.session.platform,
} if {
	_chosen == ""
	data.bailiff.tables.platforms[input.session.platform]
}

_faults contains {
	"rule": "backend.unknown",
	"message": "The requested backend is neither configured nor in the table of sandboxes.",
	"match": input.backend.requested,
} if {
	_wish != ""
	not _row_of_wish
	not input.backend.available[_wish]
}

# Where isolation is required every candidate has it, so a wish that cannot be
# met is only a wish. Elsewhere the next best place could be a weaker one.
_faults contains {
	"rule": "backend.not_configured",
	"message": "The requested backend is not configured, or this platform may not use it.",
	"match": input.backend.requested,
} if {
	input.backend.requested != ""
	_isolation_optional
	not _wish_granted
}
