# What is gone for good.
#
# Some files are the system: without its accounts, its mounts or its kernel it does
# not start, or nobody can log in. To delete, empty or move one away is to destroy it;
# to change one is asked about.

package bailiff

examined.losses contains found("destroys", path) if {
	some path in loses
	data.bailiff.tables.paths.vital[path]
}

examined.losses contains found("destroys", path) if {
	some path in loses
	startswith(path, "/boot/")
}

examined.losses contains found("destroys", path) if {
	some path in loses
	regex.match(`^/[^*?\[{]*[*?\[{]`, path)
	vital(path)
}

vital(path) if data.bailiff.tables.paths.vital[path]

vital(path) if startswith(path, "/boot/")

vital(path) if {
	startswith(path, "/")
	wild(path)
	some name, _ in data.bailiff.tables.paths.vital
	glob.match(path, ["/"], name)
}

# A folder that a program moves away.
examined.losses contains found("destroys", path) if {
	some path in code.loses
	root_folder(path)
}

# The same through a link that the text makes.
examined.links contains found("destroys", through) if {
	some call in calls_of.links
	target := call.operands[0]
	regex.match(`^[/~]`, target)
	some link in call.writes
	some deletion in calls_of.deletes
	some path in deletion.writes
	startswith(path, concat("", [link, "/"]))
	through := concat("", [trim_right(target, "/"), trim_prefix(path, link)])
	gone(deletion, through)
}

gone(_, path) if vital(path)

gone(deletion, path) if {
	recursive(deletion)
	root_folder(path)
}

gone(_, path) if {
	wild(path)
	root_folder(path)
}

# The first process is the system's own; a signal to it ends or restarts everything.
examined.kills contains found("everything", spelt(call)) if {
	some call in calls_of.kills
	"1" in call.operands
	not call.argv[1] in {"-0", "-l", "-L", "-1", "-HUP", "-SIGHUP"}
}

# All processes of the administrator.
examined.kills_by_name contains found("everything", spelt(call)) if {
	some call in calls_of.kills_by_name
	some position, option in call.argv
	option in {"-u", "-U", "--euid", "--uid", "--user"}
	call.argv[position + 1] in {"root", "0"}
	count(call.operands) < 2
}

examined.kills_by_name contains found("everything", spelt(call)) if {
	some call in calls_of.kills_by_name
	some option in call.argv
	option in {"-uroot", "-u0", "-Uroot", "-U0", "--euid=root", "--uid=root", "--user=root", "--euid=0", "--uid=0"}
	count(call.operands) == 0
}
