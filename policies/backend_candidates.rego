package bailiff

# METADATA
# title: Which backends a platform may use
# description: |
#   The table of platforms lists the backends that a platform may use, best first. The
#   table of chats says the same of one chat, in place of its platform. Only configured
#   backends count. A backend that is down makes the request unavailable; it never moves
#   the request to another place, unless the table says `take: ready`.
_platform := data.bailiff.tables.platforms[input.session.platform]

default _chat := {}

_chat := data.bailiff.tables.chats[concat("/", [input.session.platform, input.session.chat_id])]

backend_candidates contains {"name": name, "rank": rank} if {
	some rank, name in _preferred
}

_preferred := _chat.backends

_preferred := _platform.backends if not _chat.backends

# The candidates that are configured and isolated enough for the platform.
_eligible contains [candidate.rank, name] if {
	some candidate in backend_candidates
	name := _known_as(candidate.name)
	input.backend.available[name]
	_isolated_enough(name)
	not _kept_away(name)
}

# METADATA
# title: The names of backends
# description: |
#   Tables, files and requests may call a backend by another name. The decision has the
#   name of the configuration.
_backend_aliases := {"singularity": "apptainer"}

_known_as(name) := object.get(_backend_aliases, name, name)

# What a table says of a backend, by whichever name.
_said_of(table, backend) := said if {
	said := table[backend]
} else := said if {
	some alias, name in _backend_aliases
	name == backend
	said := table[alias]
}
