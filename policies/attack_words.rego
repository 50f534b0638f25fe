package bailiff

# METADATA
# title: Words that tell of an attack
# description: |
#   Tools of attack are honest by their words: lists of passwords, hosts to strike, shells to come back. They are looked for where no
#   entry says what a program does, and where an interpreter is given a script of its own.
_examined.speaking contains _found("attacks", _spelt(call)) if {
	some call in _speaking
	_tells_of_attack(call)
	not _asks_for_help(call)
}

_speaking := array.concat(
	[call | some program in _unknown_programs; some call in _calls; call.program == program],
	[call | some call in _calls_of.interprets; _is_script(call)],
)

_unknown_programs contains program if {
	some program in _command.programs
	_is_unknown(program)
}

# "python3 ./tool.py"
_is_script(call) if {
	call.program in _programs_of.interprets
	regex.match(`^\S+\.(py|pl|rb|php|js|lua|sh)$`, call.operands[0])
}

# A script that has the name of a tool of attack.
_tells_of_attack(call) if {
	_is_script(call)
	file := regex.replace(call.operands[0], `^.*/`, "")
	some name in [file, regex.replace(file, `\.[a-z]+$`, "")]
	_is_for_attacks(name)
}

_examined.attack_words contains _found("attacks", _spelt(call)) if {
	some call in _speaking
	_has_option_of_attack(call)
	not _asks_for_help(call)
}

_has_option_of_attack(call) if {
	some word in _options_of(call.argv)
	startswith(word, "--")
	some part in _with_pairs(_parts_of_word(split(trim_left(word, "-"), "=")[0]))
	data.bailiff.tables.attack_words.options[part]
}

# "rcrack", "brute-force"
_tells_of_attack(call) if {
	some word in array.slice(call.operands, 0, 3)
	not _names_path(word)
	some part in _with_pairs(_parts_of_word(word))
	some pattern in data.bailiff.tables.attack_words.verbs
	regex.match(pattern, part)
}

_is_for_attacks(program) if "attacks" in _kinds_of(program)

_is_for_attacks(program) if {
	some entry in _program_entries(program)
	"attacks" in entry.families["*"]
}

# A list of passwords or names to try.
_tells_of_attack(call) if {
	regex.match(`(?i)(^|[/=\x00])(seclists|wordlists?)/|\brockyou\b`, concat("\u0000", call.argv))
}

# Addresses to look through, other than those of this machine.
_tells_of_attack(call) if {
	some verb in array.slice(call.operands, 0, 2)
	data.bailiff.tables.attack_words.looks_through[verb]
	some address in call.operands
	regex.match(`^([0-9]{1,3}\.){3}[0-9]{1,3}([-/:][0-9.-]+)?$`, address)
	not regex.match(`^(127\.|0\.0\.0\.0)`, address)
}

# Each host of a network in turn: an address with a number that goes through a range, or that is found while the text runs.
_examined.hosts contains _found("attacks", _spelt(call)) if {
	some call in _calls
	some word in call.argv
	some found in regex.find_all_string_submatch_n(`^((?:[0-9]{1,3}\.){1,3})(?:[0-9]{1,3}|\$\(…\)\S*)$`, word, 1)
	_is_gone_through(found[1], word)
}

_is_gone_through(_, word) if contains(word, "$")

_is_gone_through(network, _) if _networks_gone_through[network]

_networks_gone_through[network] := true if {
	some host in _command.hosts
	network := regex.replace(host, `^((?:[0-9]{1,3}\.){3})[0-9]{1,3}$`, "$1")
	network != host
	not startswith(network, "127.")
	count([other | some other in _command.hosts; startswith(other, network)]) >= 16
}

# A place of an address where values are tried.
_tells_of_attack(call) if {
	contains(concat(" ", call.argv), "://")
	some word in call.argv
	regex.match(`^https?://\S*([?&][^=&\s]+=[^&\s]*\*(&|$)|\bFUZZ\b)`, word)
}

# METADATA
# title: Commands in addresses
# description: |
#   A page that is given a command runs it on its host: "shell.php?cmd=id". The words of a client that takes parameters apart count, too.
_examined.hosts contains _found("attacks", _spelt(call)) if {
	some call in _calls
	some word in call.argv
	some found in regex.find_all_string_submatch_n(_given_command, word, -1)
	_is_command(found[1])
}

_given_command := `(?i)(?:https?://\S*[?&]|^)(?:cmd|exec|command|execute|shell|system|run|ping|code)==?([^&\s]+)`

_is_command(value) if {
	name := regex.replace(value, `(\+|%20|%3[bB]|[;|]|%26|%7[cC]).*$`, "")
	regex.match(`^[a-z][a-z0-9_.-]*$|^/(usr/)?bin/`, name)
	data.bailiff.tables.attack_words.commands[regex.replace(name, `^.*/`, "")]
}

_is_command(value) if contains(value, "/etc/passwd")
