package bailiff

# METADATA
# title: Values that choose strange programs
# description: |
#   Says of each kind of variable which values are not ordinary.
_leads_astray("always", _)

_leads_astray("folders", value) if {
	some folder in split(value, ":")
	_strange(folder)
}

_leads_astray("program", value) if _strange(split(trim_left(value, " "), " ")[0])

# More than one program, for what hands the value to a shell.
_leads_astray("program", value) if regex.match("[;|&`<>]", value)

_leads_astray("node_options", value) if {
	regex.match(`(^|\s)(-r|--require|--import|--loader|--experimental-loader)[\s=]*["']?(/|~|[a-z]+:)`, value)
}

_leads_astray("java_options", value) if {
	some agent in regex.find_all_string_submatch_n(`-(?:javaagent|agentpath|agentlib|Xbootclasspath[^:]*):([^\s=]+)`, value, -1)
	_strange(agent[1])
}

_leads_astray("go_options", value) if regex.match(`-(exec|toolexec|vettool)\b`, value)

_leads_astray("make_options", value) if regex.match(`--eval|\bSHELL\s*=`, value)

# An absolute place that is neither the system's nor the project's.
_strange(path) if {
	regex.match(`^/|^~[^/]`, path)
	not _usual(path)
}

_strange(path) if {
	startswith(path, "/")
	contains(path, "/..")
}

_usual(path) if {
	parts := split(path, "/")
	some length in [2, 3]
	data.bailiff.tables.usual_places[concat("/", array.slice(parts, 0, length))]
}

_usual(path) if {
	input.args.workdir != ""
	startswith(path, input.args.workdir)
}
