package bailiff

# METADATA
# title: Variables that never enter
# description: |
#   Names and prefixes of the loader, of shells, of providers and of bailiff stay out,
#   whatever an entry says.
withhold_env contains {"name": name, "rule": rule} if {
	some name in _requested_names
	rule := _never_forwarded(name)
	not _may_be_swapped(name, rule)
}

# A key of a provider may enter as a stand-in.
_may_be_swapped(name, "env.provider_key") if _is_swapped(name)

withhold_env contains {"name": name, "rule": "env.unavailable"} if {
	some name in _requested_names
	not name in input.env.available
	not _is_own(name)
}

_never_forwarded(name) := data.bailiff.tables.env_never.names[name]

_never_forwarded(name) := min(_prefix_rules(name)) if {
	not data.bailiff.tables.env_never.names[name]
	count(_prefix_rules(name)) > 0
}

# Most names begin like none of them.
_prefix_rules(name) := set() if {
	not strings.any_prefix_match(upper(name), object.keys(data.bailiff.tables.env_never.prefixes))
} else := {rule |
	some prefix, rule in data.bailiff.tables.env_never.prefixes
	startswith(upper(name), prefix)
}
