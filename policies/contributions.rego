# What added files contribute must be what it seems.
#
# A contribution that is malformed would otherwise count for nothing, and whoever
# wrote it meant to make the decision stricter.

package bailiff

deny contains malformed("limits", values) if {
	values := {value | some kind, _ in offered; some value in offered[kind]}
	not all_positive(values)
}

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
