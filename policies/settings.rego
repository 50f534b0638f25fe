package bailiff

# METADATA
# title: Variables that choose programs
# description: |
#   A variable that names folders, programs or options is ordinary with a plain name
#   ("CC=clang") and with a folder of the project, of a home or of the system. Any other
#   place makes programs load code from there.
_examined.settings contains _found("preload", setting) if {
	some setting in _settings
	name := split(setting, "=")[0]
	some kind in _choosers(name)
	kind != "address"
	_leads_astray(kind, trim_prefix(setting, concat("", [name, "="])))
}

_examined.settings contains _found("redirected", setting) if {
	some setting in _settings
	name := split(setting, "=")[0]
	"address" in _choosers(name)
	_leads_astray("address", trim_prefix(setting, concat("", [name, "="])))
}

# What a call is given under a name that no table has: the words of the name say that a program runs, loads or is led by it.
_examined.settings contains _found(_class_of_family(kind), setting) if {
	some setting in _settings
	name := split(setting, "=")[0]
	count(_choosers(name)) == 0
	_is_given(name)
	some family, kind in data.bailiff.tables.chooser_families
	regex.match(family, name)
	_leads_astray(kind, trim_prefix(setting, concat("", [name, "="])))
}

_class_of_family("address") := "redirected"

_class_of_family(kind) := "preload" if kind != "address"

# A program writes into the file that such a variable names.
_examined.settings contains _found(class, path) if {
	some setting in _settings
	name := split(setting, "=")[0]
	regex.match(`(^|_)(TRACE|LOG|OUT|DUMP|REPORT)(PUT|FILE)?[0-9]*(_|$)`, name)
	_is_given(name)
	path := trim_prefix(setting, concat("", [name, "="]))
	regex.match(`^[~/]`, path)
	some class in _classes_of("writes", path)
}

_is_given(name) if name in _names_given

_names_given := {name | name := _calls[_].assigns[_]}

# The name of a variable, its end or its beginning, says what it chooses.
_choosers(name) := ({kind | kind := data.bailiff.tables.choosers[name]} | {kind |
	kind := data.bailiff.tables.chooser_endings[regex.replace(name, `^.*_`, "")]
	contains(name, "_")
}) | {kind |
	some beginning, kind in data.bailiff.tables.chooser_beginnings
	startswith(name, beginning)
}

# The variables of make, which it takes as words.
_examined.makes contains _found("preload", word) if {
	some call in _calls_of.makes
	some word in call.operands
	name := split(word, "=")[0]
	contains(word, "=")
	some kind in _choosers(name)
	_leads_astray(kind, trim_prefix(word, concat("", [name, "="])))
}

_examined.makes contains _found("preload", word) if {
	some call in _calls_of.makes
	some word in call.operands
	startswith(word, "SHELL=")
	_leads_astray("program", trim_prefix(word, "SHELL="))
}

# A shell that reads its files of the home at the start takes them from another folder.
_examined.interprets contains _found("preload", _spelt(call)) if {
	some call in _calls_of.interprets
	data.bailiff.tables.shells[call.program]
	"HOME" in call.assigns
	count({flag | some flag in call.flags} & {"-l", "--login", "-i"}) > 0
}

# A program whose settings of the home name what it starts takes them from another folder.
_examined.settings contains _found("preload", setting) if {
	some setting in _settings
	startswith(setting, "HOME=")
	_strange(trim_prefix(setting, "HOME="))
	some kind in ["versions", "editors"]
	some call in _calls_of[kind]
	"HOME" in call.assigns
}

# Settings of PHP that load a library, or a file before or after each program.
_examined.interprets contains _found("preload", _spelt(call)) if {
	some call in _calls_of.interprets
	call.program == "php"
	some word in call.argv
	regex.match(`^(-d|--define=)?\s*((zend_)?extension|auto_(pre|ap)pend_file|(ffi|opcache)\.preload)\s*=\s*\S`, word)
}

# "php -z x.so" loads a library, and a file of settings that the text wrote may name one.
_examined.interprets contains _found("preload", _spelt(call)) if {
	some call in _calls_of.interprets
	call.program == "php"
	regex.match(`^(-z|--zend-extension)`, call.argv[1])
}

_examined.interprets contains _found("preload", _spelt(call)) if {
	some call in _calls_of.interprets
	call.program == "php"
	some position, word in call.argv
	word in {"-c", "--php-ini"}
	call.argv[position + 1] in _command.writes
}

# All that is declared, with its values: "declare -px" shows what "env" does, and what is not exported.
_examined.exports contains _found("credentials", _spelt(call)) if {
	some call in _calls_of.exports
	call.program in {"declare", "typeset"}
	letters := concat("", array.slice(call.argv, 1, count(call.argv)))
	regex.match(`^(-[a-zA-Z]*)+$`, letters)
	contains(letters, "p")
	contains(letters, "x")
	call.pipes_to == ""
	call.writes == []
}

# The name of a variable does not say what it is set to.
_found_in_text contains _found("preload", "") if {
	some name in _command.assigns
	data.bailiff.tables.preloads[name]
}

_examined.exports contains _found("preload", "") if {
	some call in _calls_of.exports
	some word in call.operands
	name := split(word, "=")[0]
	data.bailiff.tables.preloads[name]
}

# METADATA
# title: Forgetting what was typed
# description: |
#   These settings keep a shell from remembering what is typed.
_examined.settings contains _found("traces", setting) if {
	some setting in _settings
	setting in {"HISTFILE=", "HISTFILE=/dev/null", "HISTSIZE=0", "HISTFILESIZE=0", "HISTCONTROL=ignoreboth:ignorespace"}
}

_examined.forgets contains _found("traces", _spelt(call)) if {
	some call in _calls_of.forgets
	some word in call.operands
	word in {"HISTFILE", "HISTSIZE", "HISTFILESIZE"}
}

_examined.shell_options contains _found("traces", _spelt(call)) if {
	some call in _calls_of.shell_options
	some position, "+o" in call.argv
	call.argv[position + 1] == "history"
}
