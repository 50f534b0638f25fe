package bailiff

# METADATA
# title: Entries of the table of variables
# description: |
#   An entry fits by platform, tool, backend and every program that is called.
forward_env contains name if {
	some name, entries in _entries
	some entry in entries
	_fits_programs(entry, name)
}

# The entries of each name that fit where the request runs, whatever its text is.
_entries := {name: entries |
	some name in _requested_names
	entries := [entry |
		some entry in data.bailiff.tables.env[name]
		_fits_platform(entry)
		_fits_tool(entry)
		_fits_backend(entry)
	]
}

# Why no entry fits, in the order in which an entry is read.
_misfits := {name: _misfit(name) | some name in _requested_names}

_misfit(name) := "env.not_in_table" if {
	not data.bailiff.tables.env[name]
} else := "env.platform" if {
	every entry in data.bailiff.tables.env[name] {
		not _fits_platform(entry)
	}
} else := "env.tool" if {
	every entry in data.bailiff.tables.env[name] {
		not _fits_tool(entry)
	}
} else := "env.backend" if {
	every entry in data.bailiff.tables.env[name] {
		not _fits_backend(entry)
	}
} else := "env.program"

_fits_platform(entry) if input.session.platform in entry.platforms

_fits_platform(entry) if "*" in entry.platforms

_fits_tool(entry) if input.tool in entry.tools

_fits_tool(entry) if {
	not entry.tools
	input.tool == "terminal"
}

_fits_backend(entry) if not entry.backends

_fits_backend(entry) if {
	some name in entry.backends
	_known_as(name) == _chosen
}

_fits_programs(entry, _) if not entry.programs
