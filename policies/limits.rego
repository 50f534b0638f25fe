# How much a request may use.
#
# Tool, platform, chat, backend and the request itself each contribute limits, and the
# smallest of each kind holds. Zero means that nobody sets a limit of that kind, which
# contributions.rego denies for a sandbox.

package bailiff

limits contains data.bailiff.tables.limits.tools[input.tool]

limits contains sandbox.limits

limits contains platform.limits

limits contains chat.limits

limits contains {"timeout_seconds": asked_timeout}

limits contains {"timeout_seconds": data.bailiff.tables.limits.unasked_timeout_seconds[input.tool]} if {
	not asked_timeout
}

asked_timeout := input.args.timeout if input.args.timeout > 0

execution_limits := {
	"timeout_seconds": bounds.timeout_seconds,
	"output_bytes": bounds.output_bytes,
	"background_seconds": bounds.background_seconds,
	"processes": bounds.processes,
}

offered[kind] contains value if {
	some limit in limits
	some kind, value in limit
}

bounds := object.union(
	{
		"cpus": 0, "memory_mb": 0, "disk_mb": 0, "pids": 0, "idle_seconds": 0, "max_seconds": 0,
		"background_seconds": 0, "processes": 0,
	},
	{kind: min(values) | some kind, values in offered},
)
