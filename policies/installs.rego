package bailiff

# METADATA
# title: Removing packages
# description: |
#   Finds the removal of packages of the whole machine.
_examined.node_packages contains _found("packages", _spelt(call)) if {
	some call in _calls_of.node_packages
	words := {word | some word in call.argv}
	count(words & {"uninstall", "remove", "rm", "un", "unlink", "r"}) > 0
	count(words & {"-g", "--global", "global", "--location=global"}) > 0
}

_examined.python contains _found("packages", _spelt(call)) if {
	some call in _calls_of.python
	{"-m", "pip", "uninstall"} - {word | some word in call.argv} == set()
}

# METADATA
# title: Packages from an address
# description: |
#   A package from an address instead of an index is a program that was fetched to be
#   run.
_examined.installs contains _found("downloaded", _spelt(call)) if {
	some call in _calls_of.installs
	_installing(call)
	some position, word in call.argv
	_is_address(word)
	not data.bailiff.tables.index_options[call.argv[position - 1]]
}

# The same, where it is run at once.
_examined.launches contains _found("downloaded", _spelt(call)) if {
	some call in _calls_of.launches
	some word in _launched(call)
	_is_address(word)
}

# A package that is an agent's starts that agent.
_examined.launches contains _found("starts_agent", _spelt(call)) if {
	some call in _calls_of.launches
	some word in _launched(call)
	"starts_agent" in _kinds_of(_package_name(word))
}

# The name of a package without its scope, extras and version.
_package_name(word) := regex.find_all_string_submatch_n(`^(?:@[\w.-]+/)?([\w.-]+)`, word, 1)[0][1]

# A module of a version is fetched from the host that its name begins with.
_examined.go_runs contains _found("downloaded", _spelt(call)) if {
	some call in _calls_of.go_runs
	some word in _launched(call)
	regex.match(`^[\w-]+(\.[\w-]+)+/[^@]+@`, word)
}

_is_address(word) if {
	regex.match(`^(git\+|https?://|git://|ssh://|git@|github:|gitlab:|bitbucket:)|^[\w.-]+(\[[^\]]*\])?\s*@\s*(git\+|https?:)`, word)
}

# The word that names what a launcher runs: the first behind its verb, or behind an option.
_launched(call) := (({word |
	some verb in _launches_by(call.program)
	count(verb) == 0
	word := _first_plain(call.operands)
} | {word |
	some verb in _launches_by(call.program)
	words := split(verb, " ")
	array.slice(call.operands, 0, count(words)) == words
	word := _first_plain(array.slice(call.operands, count(words), count(call.operands)))
}) | {word |
	some position, option in call.argv
	data.bailiff.tables.launcher_options[option]
	word := call.argv[position + 1]
}) | {word |
	some given in call.argv
	parts := split(given, "=")
	data.bailiff.tables.launcher_options[parts[0]]
	word := concat("=", array.slice(parts, 1, count(parts)))
}

# The first word that is no option.
_first_plain(words) := [word | some word in words; not startswith(word, "-")][0]

_installing(call) if {
	count(_installs(call)) > 0
	not "nothing" in _installs(call)
}

_installing(call) if {
	{"-m", "pip", "install"} - {word | some word in call.argv} == set()
}

# What the words of a call have its program install.
_installs(call) := {what |
	some word, what in _installs_by(call.program)
	_says(call, word)
}

_says(_, "")

_says(call, word) if word == call.operands[0]

# The first argument may be the value of an option before it: "dnf --repo x install a.rpm".
_says(call, word) if {
	_has_option_first(call)
	word == call.operands[1]
}

_says(call, word) if word in call.flags

# METADATA
# title: Packages from files
# description: |
#   A package from a file brings programs of its own, which the system runs as it installs them.
_examined.installs contains _found("system", _spelt(call)) if {
	some call in _calls_of.installs
	_installing(call)
	_installs_files(call)
}

_installs_files(call) if "files" in _installs(call)

_installs_files(call) if {
	some word in call.operands
	regex.match(`\.(rpm|deb|apk|ipk|eopkg|snap|flatpak|pkg\.tar(\.[a-z0-9]+)?)$`, word)
	not _is_address(word)
}

# An index without encryption: its packages can be replaced on the way.
_examined.installs contains _found("redirected", _spelt(call)) if {
	some call in _calls_of.installs
	_installing(call)
	some address in _indexes(call)
	startswith(address, "http:")
	_leads_astray("address", address)
}

_indexes(call) := {address |
	some position, option in call.argv
	data.bailiff.tables.index_options[option]
	address := call.argv[position + 1]
} | {address |
	some word in call.argv
	contains(word, "=")
	data.bailiff.tables.index_options[split(word, "=")[0]]
	address := regex.replace(word, `^[^=]*=`, "")
}
