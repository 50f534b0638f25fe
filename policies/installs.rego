# What is fetched to be run.

package bailiff

# A package from an address instead of an index.
examined.installs contains found("downloaded", spelt(call)) if {
	some call in calls_of.installs
	installing(call)
	some position, word in call.argv
	regex.match(`^(git\+|https?://|git://|ssh://|git@|github:|gitlab:|bitbucket:)|^[\w.-]+(\[[^\]]*\])?\s*@\s*(git\+|https?:)`, word)
	not data.bailiff.tables.index_options[call.argv[position - 1]]
}

installing(call) if {
	not "python" in data.bailiff.tables.programs[call.program]
	call.operands[0] in {"install", "i", "add", "pip", "tool", "global"}
}

installing(call) if {
	{"-m", "pip", "install"} - {word | some word in call.argv} == set()
}

# A push to an address that the same text has just set.
examined.versions contains found("sends_files", "") if {
	some setter in calls_of.versions
	remote_set(setter)
	some push in calls_of.versions
	push.operands[0] == "push"
	pushes_to(push, remote_name(setter))
}

remote_set(call) := call.operands[3] if {
	call.operands[0] == "remote"
	call.operands[1] in {"add", "set-url"}
}

remote_set(call) := call.operands[2] if {
	call.operands[0] == "config"
	regex.match(`^remote\..*\.(push)?url$`, lower(call.operands[1]))
}

remote_name(call) := call.operands[2] if call.operands[0] == "remote"

remote_name(call) := regex.replace(call.operands[1], `^remote\.|\.(push)?url$`, "") if call.operands[0] == "config"

pushes_to(push, _) if count(push.operands) == 1

pushes_to(push, name) if push.operands[1] == name
