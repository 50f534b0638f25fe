package bailiff

# METADATA
# title: Limits that bound nothing
# description: |
#   A limit must be a number above zero and of a kind that is looked up.
_faults contains _no_limit(limit, said) if {
	not _all_positive({value | some limit in limits; some value in limit})
	some limit in limits
	some kind, value in limit
	not _positive(value)
	said := sprintf("The limit %v is %s, which is no number above zero.", [kind, json.marshal(value)])
}

# A limit that no rule looks up would bound nothing.
_faults contains _no_limit(limit, said) if {
	count(object.keys(_offered) - _kinds_of_limits) > 0
	some limit in limits
	some kind, _ in limit
	not kind in _kinds_of_limits
	said := sprintf("There is no limit called %v.", [kind])
}

_kinds_of_limits := {
	"timeout_seconds", "output_bytes", "cpus", "memory_mb", "disk_mb", "pids", "idle_seconds", "max_seconds",
	"background_seconds", "processes", "workspace_mb", "workspace_files",
}

_no_limit(limit, said) := {"rule": "policy.invalid", "message": said, "match": json.marshal(limit)}

# Numbers sort before everything else.
_all_positive(values) if {
	is_number(max(values))
	min(values) > 0
}

# METADATA
# title: Sandboxes without bounds
# description: |
#   A sandbox must bound a request, so a limit of zero is denied there.
_faults contains _unbounded(kind) if {
	_isolates(_chosen)
	some kind in ["cpus", "memory_mb", "pids"]
	not _positive(_bounds[kind])
}

_unbounded(kind) := {
	"rule": "policy.invalid",
	"message": "Nothing limits what the sandbox may use: the tables set no limit of this kind.",
	"match": kind,
}
