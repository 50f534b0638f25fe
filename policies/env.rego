package bailiff

# METADATA
# title: Which variables enter
# description: |
#   A variable enters if the request names it, a source holds it, an entry of the table
#   fits it, and nothing withholds it. Names that are never forwarded (loader, shell,
#   provider and bailiff's own) are no matter of the table's entries.
_env := {
	"forward": _forwarded,
	"withheld": [{"name": name, "rule": rule} | some name, rule in _withheld],
	"set": {},
	"sealed": _sealed,
}

_requested_names := {name | some name in input.env.requested}

_forwarded := [name | some name in _requested_names; not _withheld[name]]

_sealed := [name | some name in _forwarded; _is_sealed(name)]

_is_sealed(name) if {
	some entry in data.bailiff.tables.env[name]
	entry.sealed
}

# One rule for each name that stays out: the first that holds.
_withheld[name] := rule if {
	some name in _requested_names
	rule := _withholding(name)
}

_withholding(name) := min(rules) if {
	rules := {said.rule | some said in withhold_env; said.name == name}
	count(rules) > 0
} else := _misfit(name) if {
	not name in forward_env
}
