# What added files contribute must be what it seems.
#
# A contribution that is malformed would otherwise count for nothing, and whoever
# wrote it meant to make the decision stricter.

package bailiff

deny contains no_limit(limit, said) if {
	not all_positive({value | some kind, _ in offered; some value in offered[kind]})
	some limit in limits
	some kind, value in limit
	not positive(value)
	said := sprintf("The limit %v is %s, which is no number above zero.", [kind, json.marshal(value)])
}

# A limit that nobody looks at would bound nothing.
deny contains no_limit(limit, said) if {
	count(object.keys(offered) - kinds_of_limits) > 0
	some limit in limits
	some kind, _ in limit
	not kind in kinds_of_limits
	said := sprintf("There is no limit called %v.", [kind])
}

kinds_of_limits := {
	"timeout_seconds", "output_bytes", "cpus", "memory_mb", "disk_mb", "pids", "idle_seconds", "max_seconds",
	"background_seconds", "processes",
}

no_limit(limit, said) := {"rule": "policy.invalid", "message": said, "match": json.marshal(limit)}

deny contains malformed("limits", limit) if {
	some limit in limits
	not is_object(limit)
}

# Where a sandbox is to bound a request, zero would mean that nothing does.
deny contains unbounded(kind) if {
	isolates(chosen)
	some kind in ["cpus", "memory_mb", "pids"]
	not positive(bounds[kind])
}

unbounded(kind) := {
	"rule": "policy.invalid",
	"message": "Nothing limits what the sandbox may use: the tables set no limit of this kind.",
	"match": kind,
}

# Numbers sort before everything else.
all_positive(values) if {
	is_number(max(values))
	min(values) > 0
}

deny contains malformed("withhold_env", said) if {
	some said in withhold_env
	not names_and_reasons(said)
}

deny contains malformed("require_approval", asked) if {
	some asked in require_approval
	some term in ["timeout_seconds", "grant_seconds", "quorum"]
	not positive(object.get(asked, term, 1))
}

positive(value) if {
	is_number(value)
	value > 0
}

names_and_reasons(said) if {
	is_string(said.name)
	is_string(said.rule)
}

malformed(set_name, contribution) := {
	"rule": "policy.invalid",
	"message": concat(" ", ["A policy adds to", set_name, "what is none of it."]),
	"match": json.marshal(contribution),
}
