# What leaves the machine.
#
# An ordinary API call names a URL, headers and a body; what sends files, the
# environment or another program's output is asked about.

package bailiff

# Anything that can carry text to another host.
sending := [call | some call in calls; data.bailiff.tables.senders[call.program]]

findings contains found("metadata", host) if {
	some host in hosts
	data.bailiff.tables.hosts.metadata[host]
}

findings contains found("metadata", host) if {
	some host in hosts
	regex.match(`^169\.254\.|169[.-]254[.-]169[.-]254`, host)
}

# A file as body, form field or upload.
findings contains found("sends_files", path) if {
	some call in sending
	not to_this_host
	data.bailiff.tables.senders[call.program] == "uploads"
	some path in call.reads
	not path in configuring(call)
}

# Options that name a file which is read here and not sent.
configuring(call) := {call.argv[position + 1] |
	some position, option in call.argv
	data.bailiff.tables.local_options[option]
}

# A connection that gets a file as its input.
findings contains found("sends_files", path) if {
	some call in sending
	data.bailiff.tables.senders[call.program] == "connects"
	some path in call.reads
}

# The output of another program, unless it only prints what the text says.
findings contains found("sends_files", concat(" | ", [call.program, call.pipes_to])) if {
	some call in calls
	data.bailiff.tables.senders[call.pipes_to]
	not data.bailiff.tables.printers[call.program]
	not to_this_host
}

# Text that a substitution makes out of files, put into a name or a URL.
findings contains found("sends_files", word) if {
	some call in sending
	not to_this_host
	some word in call.argv
	contains(word, "$(")
	some path in reads
}

# The environment, all of it or a secret by name.
findings contains found("sends_environment", dump.program) if {
	count(sending) > 0
	some dump in calls
	dumps_environment(dump)
}

dumps_environment(call) if call.program == "printenv"

dumps_environment(call) if {
	call.program in {"env", "set", "export"}
	count(call.operands) == 0
	not "-i" in call.flags
}

dumps_environment(call) if {
	call.program in {"export", "declare", "typeset"}
	count({flag | some flag in call.flags} & {"-p", "-x"}) > 0
	count(call.operands) == 0
}

findings contains found("sends_environment", name) if {
	count(command.variables) > 0
	some call in sending
	some position, word in call.argv
	some name in command.variables
	contains(word, concat("", ["$", name]))
	regex.match(`(?i)(key|token|secret|passw|credential)`, name)
	not call.argv[position - 1] in {"-H", "--header", "-u", "--user", "--oauth2-bearer"}
	not startswith(word, "-H")
	not startswith(word, "--header=")
}

# Nothing leaves the machine when every host is this one.
to_this_host if {
	count(hosts) > 0
	every host in hosts {
		host in {"localhost", "127.0.0.1", "::1"}
	}
}

# Programs that pack or search whole folders read what is secret in them.
findings contains found("credentials", path) if {
	some call in calls
	data.bailiff.tables.packers[call.program]
	some path in call.reads
	data.bailiff.tables.paths.holders[path]
	packs_all(call)
}

packs_all(call) if data.bailiff.tables.packers[call.program] == "always"

packs_all(call) if recursive(call)

packs_all(call) if "-a" in call.flags

# An upload to another machine, by programs whose operands are host:path.
findings contains found("sends_files", target) if {
	some call in calls
	call.program in {"scp", "rsync"}
	target := call.operands[count(call.operands) - 1]
	regex.match(`^[^/]+:`, target)
}

findings contains found("another_host", host) if {
	programs.rsync
	some call in calls
	call.program == "rsync"
	some operand in call.operands
	regex.match(`^[^/]+:`, operand)
	host := split(operand, ":")[0]
}

# A shell that gets its text from a connection, or gives its output to one.
findings contains found("reverse_shell", concat(" | ", [call.program, call.pipes_to])) if {
	some call in calls
	data.bailiff.tables.tunnels[call.program]
	data.bailiff.tables.shells[call.pipes_to]
}

findings contains found("reverse_shell", concat(" | ", [call.program, call.pipes_to])) if {
	some call in calls
	data.bailiff.tables.tunnels[call.pipes_to]
	data.bailiff.tables.shells[call.program]
}

findings contains found("reverse_shell", "socat") if {
	programs.socat
	some call in calls
	call.program == "socat"
	some operand in call.operands
	regex.match(`(?i)^(exec|system|shell):`, operand)
}
