# Which variables enter.
#
# A variable enters if the request names it, a source holds it, an entry of the
# table fits the platform, the tool, the backend and every program that is called,
# and nothing withholds it. Names that are never forwarded (loader, shell, provider
# and bailiff's own) are no matter of the table's entries.

package bailiff

env := {
	"forward": forwarded,
	"withheld": [{"name": name, "rule": rule} | some name, rule in withheld],
	"set": {},
	"sealed": sealed,
}

requested_names := {name | some name in input.env.requested}

forwarded := [name | some name in requested_names; not withheld[name]]

sealed := [name | some name in forwarded; is_sealed(name)]

is_sealed(name) if {
	some entry in data.bailiff.tables.env[name]
	entry.sealed
}

# One rule for each name that stays out: the first that holds.
withheld[name] := rule if {
	some name in requested_names
	rule := withholding(name)
}

withholding(name) := min(rules) if {
	rules := {said.rule | some said in withhold_env; said.name == name}
	count(rules) > 0
} else := misfit(name) if {
	not name in forward_env
}

withhold_env contains {"name": name, "rule": rule} if {
	some name in requested_names
	rule := never_forwarded(name)
}

withhold_env contains {"name": name, "rule": "env.unavailable"} if {
	some name in requested_names
	not name in input.env.available
}

never_forwarded(name) := data.bailiff.tables.env_never.names[name]

never_forwarded(name) := min(prefix_rules(name)) if {
	not data.bailiff.tables.env_never.names[name]
	count(prefix_rules(name)) > 0
}

# Looked up by every beginning of the name, however many prefixes there are.
prefix_rules(name) := {data.bailiff.tables.env_never.prefixes[prefix] |
	capitals := upper(name)
	some length in numbers.range(1, min({count(name), 40}))
	prefix := substring(capitals, 0, length)
}

forward_env contains name if {
	some name in requested_names
	some entry in data.bailiff.tables.env[name]
	fits_platform(entry)
	fits_tool(entry)
	fits_backend(entry)
	fits_programs(entry, name)
}

# Why no entry fits, in the order in which an entry is read.
misfit(name) := "env.not_in_table" if {
	not data.bailiff.tables.env[name]
} else := "env.platform" if {
	every entry in data.bailiff.tables.env[name] {
		not fits_platform(entry)
	}
} else := "env.tool" if {
	every entry in data.bailiff.tables.env[name] {
		not fits_tool(entry)
	}
} else := "env.backend" if {
	every entry in data.bailiff.tables.env[name] {
		not fits_backend(entry)
	}
} else := "env.program"

fits_platform(entry) if input.session.platform in entry.platforms

fits_platform(entry) if "*" in entry.platforms

fits_tool(entry) if input.tool in entry.tools

fits_tool(entry) if {
	not entry.tools
	input.tool == "terminal"
}

fits_backend(entry) if not entry.backends

fits_backend(entry) if {
	some name in entry.backends
	known_as(name) == chosen
}

fits_programs(entry, _) if not entry.programs

fits_programs(entry, name) if {
	input.tool != "execute_code"
	plain
	not name in command.variables
	only_its_own
	some program in command.programs
	program in entry.programs
	every call in calls {
		accepted(call, entry)
	}
}

# Nothing in the text plants what the program would start, reads the environment of
# processes, or says that the program is to start another one.
only_its_own if {
	not contains(command.text, "${!")
	not astray
}

astray if {
	some finding in findings
	not data.bailiff.tables.env_tolerated[finding.rule]
}

astray if {
	some name in command.assigns
	never_forwarded(name)
	not data.bailiff.tables.env_plain_assignments[name]
}

astray if {
	some name in command.assigns
	leading_program(name)
}

astray if {
	some path in command.reads
	startswith(path, "/proc")
}

astray if {
	some call in calls
	some word in call.argv
	contains(word, "/proc/")
}

astray if count(dumps) > 0

# "env" and "set" that are given nothing to run or to set show every variable.
astray if {
	some call in calls_by.env
	every operand in call.operands {
		contains(operand, "=")
	}
}

astray if {
	some call in calls_by.set
	count(call.argv) == 1
}

# A program of execute_code is one of Python's.
fits_programs(entry, _) if {
	input.tool == "execute_code"
	"python3" in entry.programs
	understood_code
	every call in calls {
		accepted(call, entry)
	}
}

# A function may have taken the name of a program.
plain if {
	understood
	not features.function
}

# A program given by a path could be any file of that name.
accepted(call, entry) if {
	call.program in entry.programs
	trusted_spelling(call)
	not risky_assignment(call)
	its_subcommand(call)
	not starts_others(call)
}

# Where the table knows the subcommands of a program that need its variables, no other
# gets them: an alias or an extension is a program of its own.
its_subcommand(call) if not data.bailiff.tables.env_subcommands[call.program]

its_subcommand(call) if data.bailiff.tables.env_subcommands[call.program][call.operands[0]]

its_subcommand(call) if call.argv[1] in {"--version", "--help"}

# Options that name a program to start, a file to write or other settings, in every
# shortened spelling.
starts_others(call) if {
	data.bailiff.tables.env_subcommands[call.program]
	some word in call.argv
	regex.match(`^(--(exe|ext|up|rece|open|conf|tem|git-d|out|texte|show-t)|-[xO]|-c.)`, word)
}

starts_others(call) if {
	data.bailiff.tables.env_subcommands[call.program]
	some position, "-c" in call.argv
	key := lower(split(call.argv[position + 1], "=")[0])
	not data.bailiff.tables.env_plain_settings[split(key, ".")[0]]
}

starts_others(call) if {
	call.program == "git"
	call.operands[0] == "clone"
	"-u" in call.flags
}

starts_others(call) if data.bailiff.tables.env_stops[call.program][concat(" ", array.slice(call.operands, 0, 2))]

starts_others(call) if {
	call.program == "gh"
	call.operands[0] == "auth"
	"-t" in call.flags
}

accepted(call, _) if data.bailiff.tables.env_neutral[call.program]

trusted_spelling(call) if call.argv[0] == call.program

trusted_spelling(call) if data.bailiff.tables.trusted_folders[trim_suffix(call.argv[0], concat("", ["/", call.program]))]

risky_assignment(call) if {
	some name in call.assigns
	never_forwarded(name)
	not data.bailiff.tables.env_plain_assignments[name]
}

risky_assignment(call) if {
	some name in call.assigns
	leading_program(name)
}

# Variables with which pagers, editors, browsers and folders of settings are chosen.
leading_program(name) if regex.match(`^(GH_(PAGER|EDITOR|BROWSER|PATH|CONFIG_DIR|HOST)|LESS.*|LV|XDG_.*|SSL_CERT_.*|CURL_.*|.*_ASKPASS|GNUPGHOME|NLSPATH|TERMINFO|.*_proxy)$`, name)
