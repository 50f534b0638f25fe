package bailiff

# METADATA
# title: The sandbox of a request
# description: |
#   Describes the backend that was chosen, as the decision has it: image, runtime,
#   lifetime, network, bounds and mounts.
_backend := _backend_unmounted if {
	_shows_nothing
} else := object.union(_backend_settled, {"mounts": _mounts})

_backend_unmounted := object.union(_backend_settled, {"mounts": []})

_shows_nothing if not _shown

_shows_nothing if _shown == []

# All but the mounts, which depend on the text.
_backend_settled := object.union(_backend_terms, _runtime)

_backend_terms := {
	"name": _chosen,
	"image": _image,
	"scope": _sandbox.scope,
	"idle_seconds": _bounds.idle_seconds,
	"max_seconds": _bounds.max_seconds,
	"persistent": _persistent,
	"network": _network,
	"egress": _egress,
	"cpus": _bounds.cpus,
	"memory_mb": _bounds.memory_mb,
	"disk_mb": _bounds.disk_mb,
	"workspace_mb": _bounds.workspace_mb,
	"workspace_files": _bounds.workspace_files,
	"pids": _bounds.pids,
	"read_only": _sandbox.read_only,
}

# A backend that may isolate or not, as it is configured, is not the one of its row where
# it does not.
_sandbox := row if {
	row := _said_of(data.bailiff.tables.sandboxes, _chosen)
	_as_isolated(row)
} else := data.bailiff.tables.bare_sandbox if {
	input.backend.available[_chosen].isolated == false
} else := data.bailiff.tables.unnamed_sandbox

_as_isolated(_) if _isolates(_chosen)

_as_isolated(row) if row.host

# Whether files stay when the sandbox goes: what is said of the chat or the platform on
# this backend, else what the table of sandboxes says.
_persistent := kept if {
	kept := _said_of(_chat.persistent, _chosen)
} else := kept if {
	kept := _said_of(_platform.persistent, _chosen)
} else := object.get(_sandbox, "persistent", false)

# Empty means the image that the backend's configuration names.
default _image := ""

_image := said if {
	said := _said_of(_chat.images, _chosen)
} else := _said_of(_platform.images, _chosen)

# Nothing means the runtime that the backend's configuration names.
default _runtime := {}

_runtime := {"runtime": said} if {
	said := _said_of(_chat.runtimes, _chosen)
} else := {"runtime": said} if {
	said := _said_of(_platform.runtimes, _chosen)
}
