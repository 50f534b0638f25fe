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
	kept := _without(_protected_in(mount), left_out)
	count(kept) > 0
} else := object.remove(mount, ["protected"])

_without(all, set()) := all

_without(all, left_out) := [pattern | some pattern in all; not pattern in left_out] if count(left_out) > 0

# The repository in which git is told to set something may be one below the folder.
_left_out_by_git := {"**/.git" |
	some call in _calls_of.versions
	_sets_in_repository(call)
}

_may_write(mount) if not mount.read_only

_protected_in(mount) := object.get(mount, "protected", _protected)

# The places of the table: false, of a file at any depth also by its name alone, switches one off.
_protected := _without(sort(object.keys(data.bailiff.tables.protected)), {pattern |
	some name, false in data.bailiff.tables.protected
	some pattern in {name, _any_depth(name)}
})

# METADATA
# title: Protected places that a request names
# description: |
#   It writes one, or a folder above it but below the mount; of a file at any depth its own folder
#   alone. A repository in which git is told to set something may be that of the mount; who commits
#   may be set.
_touched contains [mount.target, pattern] if {
	some [mount, path] in _written_in_mounts
	some pattern in _places_of(path)
	pattern in _protected_in(mount)
}

_touched contains [mount.target, pattern] if {
	some [mount, path] in _written_in_mounts
	last := regex.replace(path, `^.*/`, "")
	some above in {concat("", [path, "/"]), concat("", ["**/", last, "/"])}
	strings.any_prefix_match(_protected_in(mount), above)
	some pattern in _protected_in(mount)
	startswith(pattern, above)
}

_touched contains [mount.target, pattern] if {
	some [mount, path] in _written_in_mounts
	some pattern in _patterns_of(_protected_in(mount))
	glob.match(concat("", [trim_suffix(pattern, "/"), "{,/**}"]), ["/"], path)
}

_touched contains [mount.target, pattern] if {
	some mount in _guarded_mounts
	some pattern in _protected_in(mount)
	pattern == ".git/config"
	some call in _calls_of.versions
	_sets_in_repository(call)
}

# The places with a "*" for a part, but for those of a file at any depth, and the repositories.
_patterns_of(all) := regex.find_n(`(?m)^(?:\*\*/\.git|[^*\n]+\*.*|\*[^*\n].*)$`, concat("\n", all), -1)

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
