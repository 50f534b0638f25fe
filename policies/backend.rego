# Where a request runs.
#
# The table of platforms lists the backends a platform may use, best first, and
# says whether isolation is required. Only configured backends count; whether one
# is ready does not: a backend that is down makes the request unavailable, it
# never moves it to another place. Unless the table says `take: ready`: then the
# first that is ready is taken among those that isolate as the best one does, and
# the best one if none is.
#
# The table of chats says the same of one chat, in place of what its platform says;
# isolation and limits it can only make stricter.

package bailiff

platform := data.bailiff.tables.platforms[input.session.platform]

default chat := {}

chat := data.bailiff.tables.chats[concat("/", [input.session.platform, input.session.chat_id])]

backend_candidates contains {"name": name, "rank": rank} if {
	some rank, name in preferred
}

preferred := chat.backends

preferred := platform.backends if not chat.backends

# The candidates that are configured and isolated enough for the platform.
eligible contains [candidate.rank, name] if {
	some candidate in backend_candidates
	name := known_as(candidate.name)
	isolated_enough(name)
}

# Other names by which tables, files and requests may call backends.
backend_aliases := {"singularity": "apptainer"}

known_as(name) := object.get(backend_aliases, name, name)

# What a table says of a backend, by whichever name.
said_of(table, backend) := said if {
	said := table[backend]
} else := said if {
	some alias, name in backend_aliases
	name == backend
	said := table[alias]
}

isolated_enough(name) if isolates(name)

isolated_enough(name) if {
	isolation_optional
	input.backend.available[name]
}

isolation_optional if {
	platform.isolation == "optional"
	object.get(chat, "isolation", "optional") == "optional"
}

isolates(name) if {
	input.backend.available[name].isolated == true
	not is_host(name)
}

is_host(name) if said_of(data.bailiff.tables.sandboxes, name).host

wish := known_as(input.backend.requested)

row_of_wish := said_of(data.bailiff.tables.sandboxes, wish)

default wish_granted := false

wish_granted if {
	some [_, name] in eligible
	name == wish
}

default chosen := ""

chosen := wish if wish_granted

chosen := offer if not wish_granted

# What is taken where nobody wishes for anything that may be had.
offer := min(ready_alike)[1] if {
	count(ready_alike) > 0
} else := best

best := min(eligible)[1]

ready_alike contains [rank, name] if {
	taking == "ready"
	some [rank, name] in eligible
	input.backend.available[name].ready == true
	alike(name)
}

taking := chat.take

taking := platform.take if not chat.take

alike(name) if {
	isolates(name)
	isolates(best)
}

alike(name) if {
	not isolates(name)
	not isolates(best)
}

# A finding is judged by the place it would happen in.
default place := "host"

place := "sandbox" if isolates(chosen)

deny contains {
	"rule": "backend.none",
	"message": "No configured backend may serve this platform.",
	"match": input.session.platform,
} if {
	chosen == ""
	data.bailiff.tables.platforms[input.session.platform]
}

deny contains {
	"rule": "backend.unknown",
	"message": "The requested backend is neither configured nor in the table of sandboxes.",
	"match": input.backend.requested,
} if {
	wish != ""
	not row_of_wish
	not input.backend.available[wish]
}

# Where isolation is required every candidate has it, so a wish that cannot be
# met is only a wish. Elsewhere the next best place could be a weaker one.
deny contains {
	"rule": "backend.not_configured",
	"message": "The requested backend is not configured, or this platform may not use it.",
	"match": input.backend.requested,
} if {
	input.backend.requested != ""
	isolation_optional
	not wish_granted
}

backend := {
	"name": chosen,
	"image": image,
	"scope": sandbox.scope,
	"idle_seconds": bounds.idle_seconds,
	"max_seconds": bounds.max_seconds,
	"persistent": persistent,
	"network": network,
	"egress": egress,
	"cpus": bounds.cpus,
	"memory_mb": bounds.memory_mb,
	"disk_mb": bounds.disk_mb,
	"pids": bounds.pids,
	"read_only": sandbox.read_only,
	"mounts": mounts,
}

# A backend that may isolate or not, as it is configured, is not the one of its row where
# it does not.
sandbox := row if {
	row := said_of(data.bailiff.tables.sandboxes, chosen)
	as_isolated(row)
} else := data.bailiff.tables.bare_sandbox if {
	input.backend.available[chosen].isolated == false
} else := data.bailiff.tables.unnamed_sandbox

as_isolated(_) if isolates(chosen)

as_isolated(row) if row.host

# Whether files stay when the sandbox goes: what is said of the chat or the platform on
# this backend, else what the table of sandboxes says.
persistent := kept if {
	kept := said_of(chat.persistent, chosen)
} else := kept if {
	kept := said_of(platform.persistent, chosen)
} else := object.get(sandbox, "persistent", false)

# Empty means the image that the backend's configuration names.
default image := ""

image := said if {
	said := said_of(chat.images, chosen)
} else := said_of(platform.images, chosen)

default mounts := []

mounts := said_of(platform.mounts, chosen)
