package bailiff

# METADATA
# title: Killing processes
# description: |
#   The text may kill what it started in the background itself.
_examined.kills contains _found("processes", _spelt(call)) if {
	some call in _calls_of.kills
	some target in call.operands
	not _own_job(target)
	not call.argv[1] in {"-0", "-l", "-L"}
}

_own_job("$!")

_own_job(target) if startswith(target, "%")

# A process number of -1 means all of them; as the first argument it is a signal.
_examined.kills contains _found("everything", _spelt(call)) if {
	some call in _calls_of.kills
	some position, "-1" in call.argv
	position > 1
}

_examined.kills_by_name contains _found("everything", _spelt(call)) if {
	some call in _calls_of.kills_by_name
	some pattern in call.operands
	pattern in {"", ".", ".*", "*", "^"}
}

# The first process is the system's own; a signal to it ends or restarts everything.
_examined.kills contains _found("everything", _spelt(call)) if {
	some call in _calls_of.kills
	"1" in call.operands
	not call.argv[1] in {"-0", "-l", "-L", "-1", "-HUP", "-SIGHUP"}
}

# All processes of the administrator.
_examined.kills_by_name contains _found("everything", _spelt(call)) if {
	some call in _calls_of.kills_by_name
	some position, option in call.argv
	option in {"-u", "-U", "--euid", "--uid", "--user"}
	call.argv[position + 1] in {"root", "0"}
	count(call.operands) < 2
}

_examined.kills_by_name contains _found("everything", _spelt(call)) if {
	some call in _calls_of.kills_by_name
	some option in call.argv
	option in {"-uroot", "-u0", "-Uroot", "-U0", "--euid=root", "--uid=root", "--user=root", "--euid=0", "--uid=0"}
	count(call.operands) == 0
}

# Who kills bailiff by its name is asked by nothing from then on. The name may stand in what tells the number.
_examined.kills_by_name contains _found("protection", _spelt(call)) if {
	some call in _calls_of.kills_by_name
	some word in call.operands
	_names_bailiff(word)
}

_examined.kills contains _found("protection", _spelt(call)) if {
	some call in _calls_of.kills
	some target in call.operands
	not _own_job(target)
	not call.argv[1] in {"-0", "-l", "-L"}
	some other in _calls
	some word in other.operands
	_names_bailiff(word)
}

_names_bailiff(word) if regex.match(`(?i)(^|[^a-z0-9])bailiff([^a-z0-9]|$)`, word)
