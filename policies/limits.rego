package bailiff

# METADATA
# title: How much a request may use
# description: |
#   Tool, platform, chat, backend and the request itself each contribute limits, and the
#   smallest of each kind holds. A zero sets no limit of that kind, which
#   contributions_limits.rego denies for a sandbox.
limits contains data.bailiff.tables.limits.tools[input.tool]

limits contains _sandbox.limits

limits contains _platform.limits

limits contains _chat.limits

limits contains {"timeout_seconds": _asked_timeout}

limits contains {"timeout_seconds": data.bailiff.tables.limits.unasked_timeout_seconds[input.tool]} if {
	not _asked_timeout
}

_asked_timeout := input.args.timeout if input.args.timeout > 0

_execution_limits := {
	"timeout_seconds": _bounds.timeout_seconds,
	"output_bytes": _bounds.output_bytes,
	"background_seconds": _bounds.background_seconds,
	"processes": _bounds.processes,
}

_offered[kind] contains value if {
	some limit in limits
	some kind, value in limit
}

_bounds := object.union(
	{
		"cpus": 0, "memory_mb": 0, "disk_mb": 0, "pids": 0, "idle_seconds": 0, "max_seconds": 0,
		"background_seconds": 0, "processes": 0, "workspace_mb": 0, "workspace_files": 0,
	},
	{kind: min(values) | some kind, values in _offered},
)
