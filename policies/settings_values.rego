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

_leads_astray(kind, value) if {
	kind in {"program", "viewer"}
	_strange(split(trim_left(value, " "), " ")[0])
}

# A shell shows nothing: it takes what is typed.
_leads_astray("viewer", value) if {
	first := split(trim_left(value, " "), " ")[0]
	data.bailiff.tables.shells[regex.replace(first, `^.*/`, "")]
	not regex.match(` -[a-z]*c `, value)
}

# More than one program, for what hands the value to a shell.
_leads_astray(kind, value) if {
	kind in {"program", "viewer"}
	regex.match("[;|&`<>]", value)
}

# A program or a file that others start or load unasked, in a folder of the project too.
_leads_astray("hook", value) if {
	first := split(trim_left(value, " "), " ")[0]
	contains(first, "/")
	not _installed(first)
}

_leads_astray("hook", value) if regex.match("[;|&`<>]", value)

# A switch.
_leads_astray("set", value) if not value in {"", "0", "false", "no", "off", "/dev/null"}

# An address, unless it is this machine.
_leads_astray("address", value) if {
	regex.match(`^[A-Za-z0-9+]+://`, value)
	some address in split(value, ",")
	not regex.match(_own_address, address)
	not data.bailiff.tables.public_indexes[split(trim_prefix(address, "https://"), "/")[0]]
}

_own_address := concat("|", [
	`^$|^(off|direct|none)$|^unix:`,
	`^([A-Za-z0-9+]+://)([^/@]*@)?(localhost|127\.[0-9.]+|\[::1\]|0\.0\.0\.0|host\.docker\.internal)([:/]|$)`,
])

_leads_astray("node_options", value) if {
	regex.match(`(^|\s)(-r|--require|--import|--loader|--experimental-loader)[\s=]*["']?(/|~|[a-z]+:)`, value)
}

_leads_astray("node_options", value) if regex.match(`--(experimental-)?(loader|import)[\s=]*["']?\.{1,2}/`, value)

_leads_astray("java_options", value) if {
	some agent in regex.find_all_string_submatch_n(`-(?:javaagent|agentpath|agentlib|Xbootclasspath[^:]*):([^\s=]+)`, value, -1)
	_strange(agent[1])
}

_leads_astray("java_options", value) if {
	regex.match(`-(javaagent|agentpath|Xbootclasspath[^:]*):\.{1,2}/|-XX:(OnError|OnOutOfMemoryError|Flags|VMOptionsFile)=|(^|\s)@`, value)
}

_leads_astray("go_options", value) if regex.match(`-(exec|toolexec|vettool|overlay)\b`, value)

# An option that loads or runs what it names, of any program.
_leads_astray("options", value) if {
	some option in regex.find_all_string_submatch_n(_loading_option, value, -1)
	_strange(option[1])
}

_loading_option := concat("", [
	`(?:^|\s)--?[\w-]*`,
	`(?:ld|linker|plugin|agent|load|require|import|exec|overlay|specs|wrapper|script|module|config|init)`,
	`[\w-]*[=\s]+(/\S+)`,
])

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

# A place of the system, which only its owner fills.
_installed(path) if {
	parts := split(path, "/")
	parts[0] == ""
	not parts[1] in {"home", "root", "Users", "workspace", "workspaces", "app", "srv", "builds", "tmp"}
	_usual(path)
	not contains(path, "/..")
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
