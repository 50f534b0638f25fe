package bailiff

# METADATA
# title: Contributions that are malformed
# description: |
#   A contribution that is malformed would count for nothing, though it was meant to
#   make the decision stricter. So it denies.
deny contains fault if some fault in _faults

# Those that the circumstances of a request tell without its text: they are the same for all texts.
_faults contains _malformed("limits", limit) if {
	some limit in limits
	not is_object(limit)
}

_faults contains _malformed("withhold_env", said) if {
	some said in withhold_env
	not _names_and_reasons(said)
}

deny contains _malformed("require_approval", asked) if {
	some asked in require_approval
	some term in ["timeout_seconds", "grant_seconds", "quorum"]
	not _positive(object.get(asked, term, 1))
}

_positive(value) if {
	is_number(value)
	value > 0
}

_names_and_reasons(said) if {
	is_string(said.name)
	is_string(said.rule)
}

_malformed(set_name, contribution) := {
	"rule": "policy.invalid",
	"message": concat(" ", ["A policy adds to", set_name, "what is none of it."]),
	"match": json.marshal(contribution),
}
