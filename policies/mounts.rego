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
	kept := [pattern | some pattern in _protected_in(mount); not _asked_about(mount, pattern)]
	count(kept) > 0
} else := object.remove(mount, ["protected"])

_may_write(mount) if not mount.read_only

_protected_in(mount) := object.get(mount, "protected", [pattern | some pattern, true in data.bailiff.tables.protected])

_asked_about(mount, pattern) if [mount.target, pattern] in _touched

# The repository in which git is told to set something may be one below the folder.
_asked_about(_, "**/.git") if {
	some call in _calls_of.versions
	_sets_in_repository(call)
}

# METADATA
# title: Protected places that a request names
# description: |
#   It writes one, or a folder above it but below the mount. A repository in which git is told
#   to set something may be that of the mount; who commits may be set.
_touched contains [mount.target, pattern] if {
	count(_writes) > 0
	some [mount, pattern, place] in _protected_places
	some path in _writes
	startswith(path, concat("", [mount.target, "/"]))
	_overlap(path, place)
}

_touched contains [mount.target, pattern] if {
	some [mount, pattern, _] in _protected_places
	pattern == ".git/config"
	some call in _calls_of.versions
	_sets_in_repository(call)
}

_protected_places contains [mount, pattern, place] if {
	some mounts in _platform.mounts
	some mount in mounts
	_may_write(mount)
	some pattern in _protected_in(mount)
	place := concat("/", [mount.target, trim_suffix(pattern, "/")])
}

_overlap(path, place) if startswith(concat("", [path, "/"]), concat("", [place, "/"]))

_overlap(path, place) if startswith(place, concat("", [path, "/"]))

_overlap(path, place) if {
	contains(place, "*")
	glob.match(concat("", [place, "{,/**}"]), ["/"], path)
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
