package bailiff

# METADATA
# title: Folders of the host
# description: |
#   The platform's row for the backend names them. In one that may be written, commands leave
#   protected files as they are: those that the row names, else the table's. A place that the
#   request is asked about is left out. The mounts of ssh are folders of another machine.
default _mounts := []

_mounts := [_guarded(mount) | some mount in _shown]

_shown := _said_of(_platform.mounts, _chosen)

_guarded(mount) := object.union(mount, {"protected": kept}) if {
	_may_write(mount)
	_chosen != "ssh"
	left_out := {pattern | some [mount.target, pattern] in _touched} | _left_out_by_git
	kept := [pattern | some pattern in _protected_in(mount); not pattern in left_out]
	count(kept) > 0
} else := object.remove(mount, ["protected"])

# The repository in which git is told to set something may be one below the folder.
_left_out_by_git := {"**/.git" |
	some call in _calls_of.versions
	_sets_in_repository(call)
}

_may_write(mount) if not mount.read_only

_protected_in(mount) := object.get(mount, "protected", _protected)

# The places of the table: false, of a file at any depth also by its name alone, switches one off.
_protected := [pattern |
	some pattern, source in data.bailiff.tables.protected
	source != false
	not data.bailiff.tables.protected[trim_prefix(pattern, "**/")] == false
]

# METADATA
# title: Protected places that a request names
# description: |
#   It writes one, or a folder above it but below the mount; of a file at any depth its own folder
#   alone. A repository in which git is told to set something may be that of the mount; who commits
#   may be set.
_touched contains [mount.target, pattern] if {
	some [mount, path] in _written_in_mounts
	some pattern in _protected_in(mount)
	pattern in _places_of(path)
}

_touched contains [mount.target, pattern] if {
	some [mount, path] in _written_in_mounts
	last := regex.replace(path, `^.*/`, "")
	some pattern in _protected_in(mount)
	strings.any_prefix_match(pattern, [concat("", [path, "/"]), concat("", ["**/", last, "/"])])
}

_touched contains [mount.target, pattern] if {
	some [mount, path] in _written_in_mounts
	some pattern in _protected_in(mount)
	_is_pattern(pattern)
	glob.match(concat("", [trim_suffix(pattern, "/"), "{,/**}"]), ["/"], path)
}

_touched contains [mount.target, pattern] if {
	some mount in _guarded_mounts
	some pattern in _protected_in(mount)
	pattern == ".git/config"
	some call in _calls_of.versions
	_sets_in_repository(call)
}

# The paths below a mount that a request writes, relative to it.
_written_in_mounts contains [mount, trim_suffix(trim_prefix(path, below), "/")] if {
	some mount in _guarded_mounts
	below := concat("", [mount.target, "/"])
	some path in _writes
	startswith(path, below)
}

_guarded_mounts contains mount if {
	some mounts in _platform.mounts
	some mount in mounts
	_may_write(mount)
}

# The places without a "*" for a part that a path is, or lies in.
_places_of(path) := {place |
	parts := split(path, "/")
	some i, part in parts
	above := concat("/", array.slice(parts, 0, i + 1))
	pair := concat("/", array.slice(parts, i, i + 2))
	end := regex.replace(part, `^.*\.`, "*.")
	some place in [above, concat("", [above, "/"]), _any_depth(part), _any_depth(pair), _any_depth(end)]
	place != "**/.git"
}

_any_depth(file) := concat("", ["**/", file])

_is_pattern("**/.git")

_is_pattern(pattern) if {
	not startswith(pattern, "**/")
	contains(pattern, "*")
}

_sets_in_repository(call) if {
	key := _git_set(call)
	not key in {"user.name", "user.email"}
	not _elsewhere_set(call)
}

_sets_in_repository(call) if {
	call.operands[0] == "remote"
	call.operands[1] in {"add", "set-url", "rename", "rm", "remove", "set-branches"}
}

_sets_in_repository(call) if {
	call.operands[0] == "submodule"
	call.operands[1] in {"add", "init", "update", "sync", "deinit"}
}

_elsewhere_set(call) if {
	some flag in call.flags
	flag in {"--global", "--system"}
}

# METADATA
# title: Files by which programs start later
# description: |
#   Protected places of a folder of the host that the request writes.
_examined.mounts contains _found("startup", concat("/", [target, pattern])) if {
	some [target, pattern] in _touched
}
