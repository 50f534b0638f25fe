package bailiff

# METADATA
# title: Files that git reads and sends
# description: |
#   Git reads files outside the project like any other, and files that are gone from the
#   folder.
_examined.versions contains _found(class, operand) if {
	some call in _calls_of.versions
	some [class, operand] in _git_reads(call.operands[0], call)
}

_git_reads(verb, call) := {[class, operand] |
	some operand in array.slice(call.operands, 1, count(call.operands))
	regex.match(`^[/~]`, operand)
	some class in _classes_of("reads", operand)
} if {
	verb in {"diff", "hash-object", "add", "grep", "apply"}
}

# "git show REVISION:FILE" reads a file that may be gone from the folder.
_git_reads(verb, call) := {[class, operand] |
	some operand in call.operands
	contains(operand, ":")
	some class in _classes_of("reads", split(operand, ":")[1])
} if {
	verb in {"show", "cat-file", "archive"}
}

# METADATA
# title: Pushes to other places
# description: |
#   A push to an address sends the work to a place that nobody set up as a remote. So
#   does a push to a remote that the same text has just set.
_pushes_to_address(call) if {
	regex.match(`://|^[^/]+@[^/]+:`, call.operands[1])
}

# A push to an address that the same text has just set.
_examined.versions contains _found("sends_files", "") if {
	some setter in _calls_of.versions
	_remote_set(setter.operands[0], setter)
	some push in _calls_of.versions
	push.operands[0] == "push"
	_pushes_to(push, _remote_name(setter))
}

_remote_set(verb, call) := call.operands[3] if {
	verb == "remote"
	call.operands[1] in {"add", "set-url"}
}

_remote_set(verb, call) := call.operands[2] if {
	verb == "config"
	regex.match(`^remote\..*\.(push)?url$`, lower(call.operands[1]))
}

_remote_name(call) := call.operands[2] if call.operands[0] == "remote"

_remote_name(call) := regex.replace(call.operands[1], `^remote\.|\.(push)?url$`, "") if call.operands[0] == "config"

_pushes_to(push, _) if count(push.operands) == 1

_pushes_to(push, name) if push.operands[1] == name

# METADATA
# title: Connections of git that a setting leads elsewhere
# description: |
#   A setting may replace the address of a remote, put a proxy before it, or stop the
#   check of its certificate.
_leads_git_elsewhere(key, value) if {
	regex.match(`^(http|https|remote)\..*proxy$|^core\.gitproxy$`, key)
	value != ""
	not regex.match(_own_address, value)
}

_leads_git_elsewhere(key, value) if {
	regex.match(`^https?\..*sslverify$`, key)
	lower(value) in {"false", "0", "no", "off"}
}

_leads_git_elsewhere(key, _) if regex.match(`^remote\..*\.(push)?url$|^url\..*\.(push)?insteadof$`, key)
