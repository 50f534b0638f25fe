package bailiff

# METADATA
# title: Entries of the table of variables
# description: |
#   An entry fits by platform, tool, backend and every program that is called.
forward_env contains name if {
	some name in _requested_names
	some entry in data.bailiff.tables.env[name]
	_fits_platform(entry)
	_fits_tool(entry)
	_fits_backend(entry)
	_fits_programs(entry, name)
}

# Why no entry fits, in the order in which an entry is read.
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
