package bailiff

# METADATA
# title: Which variables enter
# description: |
#   A variable enters if the request names it, a source holds it, an entry of the table
#   fits it, and nothing withholds it. Names that are never forwarded (loader, shell,
#   provider and bailiff's own) are no matter of the table's entries.
_env := _none_entering if {
	_none_entering
} else := object.union_n([_entering, _with_swapped, _with_own])

default _with_swapped := {}

_with_swapped := {"swap": _swapped} if count(_swapped) > 0

default _with_own := {}

_with_own := {"from_user": own} if {
	own := [name | some name in _forwarded; _is_own(name)]
	count(own) > 0
}

# With any text, if all are withheld.
_none_entering := {
	"forward": [],
	"withheld": [{"name": name, "rule": rule} | some name, rule in _kept_out],
	"set": {},
	"sealed": [],
} if {
	every name in _requested_names {
		_kept_out[name]
	}
}

_entering := {
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

# Those of which the sandbox gets a stand-in only: where one entry that fits says so, the value
# does not enter.
_swapped := [object.union_n([{"name": name, "hosts": hosts, "in": slots}, _passing(name), _sharing(name)]) |
	some name in _forwarded
	_is_swapped(name)
	hosts := sort({host | some entry in _swapping(name); some host in entry.swap.hosts})
	slots := sort({slot | some entry in _swapping(name); some slot in object.get(entry.swap, "in", _usual_slots)})
]

_usual_slots := ["authorization", "private-token", "x-api-key"]

# What stands for the value may leave in any place, if every entry says so.
default _passing(_) := {}

_passing(name) := {"stray_passes": true} if {
	every entry in _swapping(name) {
		entry.swap.stray == "pass"
	}
}

# Other requests may be in the sandbox meanwhile, if every entry says so.
default _sharing(_) := {}

_sharing(name) := {"not_alone": true} if {
	not _is_own(name)
	every entry in _swapping(name) {
		entry.swap.alone == false
	}
}

# Of which the value is the requester's own, if any entry says so. No source of the sidecar's stands in for a missing one.
_is_own(name) if {
	some entry in data.bailiff.tables.env[name]
	entry.from_user
}

withhold_env contains {"name": name, "rule": "env.not_own"} if {
	some name in _requested_names
	_is_own(name)
	not _has_own(name)
}

_has_own(name) if name in input.env.own

_is_swapped(name) if count(_swapping(name)) > 0

_swapping(name) := [entry |
	some entry in _entries[name]
	entry.swap
]

# A stand-in is of no use where nothing puts the value in.
withhold_env contains {"name": name, "rule": "env.no_egress"} if {
	some name in _requested_names
	_is_swapped(name)
	_network != "egress"
}

# One rule for each name that stays out: the first that holds.
_withheld := {name: rule |
	some name in _requested_names
	rule := _withholding(name)
}

_withholding(name) := _kept_out[name] if {
	_kept_out[name]
} else := _misfits[name] if {
	not name in forward_env
}

_kept_out := {name: min(rules) |
	some name in _requested_names
	rules := {said.rule | some said in withhold_env; said.name == name}
	count(rules) > 0
}
