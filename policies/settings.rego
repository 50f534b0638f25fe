# Which programs a request chooses through variables.
#
# A variable that names folders, programs or options is ordinary with a plain name
# ("CC=clang") and with a folder of the project, of a home or of the system. With any
# other place it makes programs load what somebody put there.

package bailiff

examined.settings contains found("preload", setting) if {
	some setting in settings
	name := split(setting, "=")[0]
	kind := data.bailiff.tables.choosers[name]
	leads_astray(kind, trim_prefix(setting, concat("", [name, "="])))
}

leads_astray("always", _)

leads_astray("folders", value) if {
	some folder in split(value, ":")
	strange(folder)
}

leads_astray("program", value) if strange(split(trim_left(value, " "), " ")[0])

# More than one program, for what hands the value to a shell.
leads_astray("program", value) if regex.match("[;|&`<>]", value)

leads_astray("node_options", value) if {
	regex.match(`(^|\s)(-r|--require|--import|--loader|--experimental-loader)[\s=]*["']?(/|~|[a-z]+:)`, value)
}

leads_astray("java_options", value) if {
	some agent in regex.find_all_string_submatch_n(`-(?:javaagent|agentpath|agentlib|Xbootclasspath[^:]*):([^\s=]+)`, value, 10)
	strange(agent[1])
}

leads_astray("go_options", value) if regex.match(`-(exec|toolexec|vettool)\b`, value)

leads_astray("make_options", value) if regex.match(`--eval|\bSHELL\s*=`, value)

# An absolute place that is neither the system's nor the project's.
strange(path) if {
	regex.match(`^/|^~[^/]`, path)
	not usual(path)
}

strange(path) if {
	startswith(path, "/")
	contains(path, "/..")
}

usual(path) if {
	parts := split(path, "/")
	some length in [2, 3]
	data.bailiff.tables.usual_places[concat("/", array.slice(parts, 0, length))]
}

usual(path) if {
	input.args.workdir != ""
	startswith(path, input.args.workdir)
}

# The variables of make, which it takes as words.
examined.makes contains found("preload", word) if {
	some call in calls_of.makes
	some word in call.operands
	name := split(word, "=")[0]
	contains(word, "=")
	leads_astray(data.bailiff.tables.choosers[name], trim_prefix(word, concat("", [name, "="])))
}

examined.makes contains found("preload", word) if {
	some call in calls_of.makes
	some word in call.operands
	startswith(word, "SHELL=")
	leads_astray("program", trim_prefix(word, "SHELL="))
}

# Nothing of what is typed is to be remembered.
examined.settings contains found("traces", setting) if {
	some setting in settings
	setting in {"HISTFILE=", "HISTFILE=/dev/null", "HISTSIZE=0", "HISTFILESIZE=0", "HISTCONTROL=ignoreboth:ignorespace"}
}

examined.forgets contains found("traces", spelt(call)) if {
	some call in calls_of.forgets
	some word in call.operands
	word in {"HISTFILE", "HISTSIZE", "HISTFILESIZE"}
}

examined.shell_options contains found("traces", spelt(call)) if {
	some call in calls_of.shell_options
	some position, "+o" in call.argv
	call.argv[position + 1] == "history"
}
