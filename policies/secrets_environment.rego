package bailiff

# METADATA
# title: The environment
# description: |
#   The whole environment, or a secret of it by name, must not leave the machine.
#   Neither must the environments of other processes, which a listing shows.
_examined.lists_processes contains _found("credentials", _spelt(call)) if {
	some call in _calls_of.lists_processes
	some operand in call.operands
	regex.match(`^[a-zA-Z]*e[a-zA-Z]*$`, operand)
}

# Secrets of the environment, for all to read: those that are looked for in it, or printed by their names.
_examined.environment contains _found("credentials", _spelt(call)) if {
	some dump in _dumps
	some call in _calls
	call.program == dump.pipes_to
	call.program in {"grep", "egrep", "fgrep", "rg", "awk", "sed", "ag", "ack"}
	some word in array.slice(call.argv, 1, count(call.argv))
	_secretish(word)
}

_examined.environment contains _found("credentials", _spelt(call)) if {
	some call in _dumps
	call.program == "printenv"
	some name in call.operands
	_secretish(name)
}

# A word in which a secret's name stands, or a pattern for such names or for how tokens begin.
_secretish(word) if regex.match(_secret_names, word)

_secretish(word) if regex.match(`(^|[^A-Za-z0-9])(sk-|gh[pousr]_|glpat-|xox[abpr]-|AKIA|eyJ)`, word)

# Some names are secrets' in any spelling, the short ones at a border of words alone: KEY, not MONKEY.
_secret_names := concat("", [
	`(?i)(token|secret|passw|passphrase|credential|api_?key|private_?key|access_?key)`,
	`|(^|[^a-z])(keys?|pass|creds?|apikey)($|[^a-z])|[a-z0-9]_(pwd|pat)($|[^a-z])`,
])

# Variables of the environment that hold a secret by their names.
_secret_variables contains name if {
	some name in _command.variables
	regex.match(_secret_names, name)
}

# What prints such a variable shows it, unless another program or a file gets it. "${KEY:+set}" shows none of it.
_examined.calls contains _found("credentials", _spelt(call)) if {
	some name in _secret_variables
	some call in _calls
	_has_trait(call.program, "prints")
	call.pipes_to == ""
	call.writes == []
	some word in call.argv
	_holds_variable(word, name)
	regex.match(concat("", [`\$(`, name, `\b|\{`, name, `\})`]), _command.text)
}

_holds_variable(word, name) if regex.match(concat("", [`\$`, name, `($|[^A-Za-z0-9_])`]), word)

# The environment, all of it or a secret by name.
_examined.sends contains _found("sends_environment", "") if {
	count(_dumps) > 0
}

_dumpers_called contains program if {
	some program in _command.programs
	program in {"printenv", "env", "set", "export", "declare", "typeset"}
}

_dumps contains call if {
	_dumpers_called != set()
	some call in _calls
	call.program in _dumpers_called
	_dumps_environment(call)
}

_dumps_environment(call) if call.program == "printenv"

_dumps_environment(call) if {
	call.program in {"env", "set", "export"}
	count(call.operands) == 0
	not "-i" in call.flags
}

_dumps_environment(call) if {
	call.program in {"export", "declare", "typeset"}
	count({flag | some flag in call.flags} & {"-p", "-x"}) > 0
	count(call.operands) == 0
}

# A secret goes to those hosts alone that the table of variables gives for it, wherever it stands: in a header, as a password, in a
# body or an address.
_examined.sends contains _found("sends_environment", "") if {
	some name in _secret_variables
	some call in _calls_of.sends
	some word in call.argv
	_holds_variable(word, name)
	not _goes_where_it_belongs(name)
}

# Behind the host of an address, what any program is given.
_examined.secrets contains _found("sends_environment", "") if {
	some name in _secret_variables
	some call in _calls
	some word in call.argv
	_holds_variable(word, name)
	regex.match(concat("", [`^[a-z+]+://[^/]+/.*\$`, name]), word)
	not _goes_where_it_belongs(name)
}

_goes_where_it_belongs(_) if _to_this_host

_goes_where_it_belongs(name) if {
	count(_hosts) > 0
	every host in _hosts {
		_belongs_to(name, host)
	}
}

_belongs_to(_, host) if host in {"localhost", "127.0.0.1", "::1"}

_belongs_to(name, host) if {
	some entry in data.bailiff.tables.env[name]
	some known in array.concat(object.get(entry, "hosts", []), object.get(entry, ["swap", "hosts"], []))
	known in _names_of(host)
}

_belongs_to(name, host) if {
	some known in data.bailiff.tables.secret_hosts[name]
	known in _names_of(host)
}

# METADATA
# title: Names that are looked up
# description: |
#   The server that answers for a domain sees each name below it that is asked for, and so what a text puts into such a name.
_examined.looks_up contains _found("sends_files", "") if {
	some call in _calls_of.looks_up
	some word in call.operands
	regex.match(_carries_output, word)
	not regex.match(_stays_here, word)
}

_examined.looks_up contains _found("sends_environment", "") if {
	some name in _secret_variables
	some call in _calls_of.looks_up
	some word in call.operands
	_holds_variable(word, name)
	contains(word, ".")
}

# The name of a host in an address is looked up, too.
_examined.sends contains _found("sends_files", "") if {
	some host in _hosts
	regex.match(_carries_output, host)
	contains(host, "$(")
	not regex.match(_stays_here, host)
}

# What a program prints, or a folder lists, before a domain.
_carries_output := `(\$\(…\)|\*)[^/ ]*\.[A-Za-z0-9-]+\.[A-Za-z][A-Za-z0-9-]+\.?$`

_stays_here := `(?i)\.(local|localdomain|internal|intranet|lan|home|corp|svc|arpa)\.?$`
