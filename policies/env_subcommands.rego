package bailiff

# METADATA
# title: Subcommands that start nothing else
# description: |
#   The table knows the subcommands of some programs that need their variables. No other
#   subcommand gets them: an alias or an extension is a program of its own.
_its_subcommand(call) if not data.bailiff.tables.env_subcommands[call.program]

_its_subcommand(call) if data.bailiff.tables.env_subcommands[call.program][call.operands[0]]

_its_subcommand(call) if call.argv[1] in {"--version", "--help"}

# Options that name a program to start, a file to write or other settings, in every
# shortened spelling.
_starts_others(call) if {
	data.bailiff.tables.env_subcommands[call.program]
	some word in call.argv
	regex.match(`^(--(exe|ext|up|rece|open|conf|tem|git-d|out|texte|show-t)|-[xO]|-c.)`, word)
}

_starts_others(call) if {
	data.bailiff.tables.env_subcommands[call.program]
	some position, "-c" in call.argv
	key := lower(split(call.argv[position + 1], "=")[0])
	not data.bailiff.tables.env_plain_settings[split(key, ".")[0]]
}

_starts_others(call) if {
	call.program == "git"
	call.operands[0] == "clone"
	"-u" in call.flags
}

_starts_others(call) if data.bailiff.tables.env_stops[call.program][concat(" ", array.slice(call.operands, 0, 2))]

_starts_others(call) if {
	call.program == "gh"
	call.operands[0] == "auth"
	"-t" in call.flags
}

# METADATA
# title: Assignments that change what a program starts
# description: |
#   A call with such an assignment gets no variable of the table.
_risky_assignment(call) if {
	some name in call.assigns
	_never_forwarded(name)
	not data.bailiff.tables.env_plain_assignments[name]
}

_risky_assignment(call) if {
	some name in call.assigns
	_leading_program(name)
}

# Variables with which pagers, editors, browsers and folders of settings are chosen.
_leading_program(name) if regex.match(`^(GH_(PAGER|EDITOR|BROWSER|PATH|CONFIG_DIR|HOST)|LESS.*|LV|XDG_.*)$`, name)

_leading_program(name) if regex.match(`^(SSL_CERT_.*|CURL_.*|.*_ASKPASS|GNUPGHOME|NLSPATH|TERMINFO|.*_proxy)$`, name)
