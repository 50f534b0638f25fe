# What leaves the machine.
#
# An ordinary API call names a URL, headers and a body; what sends files, the
# environment or another program's output is asked about.

package bailiff

examined.hosts contains found("metadata", host) if {
	some host in hosts
	data.bailiff.tables.hosts.metadata[host]
}

examined.hosts contains found("metadata", host) if {
	some host in hosts
	regex.match(`^169\.254\.|169[.-]254[.-]169[.-]254`, host)
}

# An option of curl that leads a harmless name there.
examined.sends contains found("metadata", spelt(call)) if {
	some call in calls_of.sends
	some position, option in call.argv
	option in {"--resolve", "--connect-to"}
	regex.match(`169\.254\.|fd00:ec2|100\.100\.100\.200`, call.argv[position + 1])
}

# A file as body, form field or upload.
examined.uploads contains found("sends_files", sent(call, path)) if {
	some call in calls_of.uploads
	not to_this_host
	some path in call.reads
	not path in configuring(call)
}

# "name=<file" of a form and "name@file" of a field to encode are files as well.
examined.uploads contains found("sends_files", spelt(call)) if {
	some call in calls_of.uploads
	not to_this_host
	some position, option in call.argv
	word := call.argv[position + following(option)]
	names_a_file(option, word)
}

sent(call, path) := spelt(call) if stands_in(path, call)

sent(call, path) := "" if not stands_in(path, call)

names_a_file("-F", word) if contains(word, "=<")

names_a_file("--form", word) if contains(word, "=<")

names_a_file("POST", word) if regex.match(`^[\w-]*@`, word)

names_a_file("post", word) if regex.match(`^[\w-]*@`, word)

names_a_file("PUT", word) if regex.match(`^[\w-]*@`, word)

names_a_file("--data-urlencode", word) if regex.match(`^[\w.-]*@`, word)

# The method of a request comes before its address, an option before its value.
following(option) := 2 if option in {"POST", "PUT", "post"}

following(option) := 1 if not option in {"POST", "PUT", "post"}

# Options that name a file which is read here and not sent.
configuring(call) := {call.argv[position + 1] |
	some position, option in call.argv
	data.bailiff.tables.local_options[option]
}

# A connection that gets a file as its input.
examined.connects contains found("sends_files", sent(call, path)) if {
	some call in calls_of.connects
	some path in call.reads
}

examined.tunnels contains found("sends_files", sent(call, path)) if {
	some call in calls_of.tunnels
	call.operands[0] == "s_client"
	some path in call.reads
	not path in configuring(call)
}

examined.tunnels contains found("sends_files", "") if {
	some client in calls_of.tunnels
	client.operands[0] == "s_client"
	some call in piped
	call.pipes_to == client.program
	not data.bailiff.tables.printers[call.program]
}

# A server that hands out the folder to whoever asks, from other machines too.
examined.python contains found("sends_files", spelt(call)) if {
	some call in calls_of.python
	some position, "-m" in call.argv
	call.argv[position + 1] in {"http.server", "SimpleHTTPServer"}
	not local_only(call)
}

local_only(call) if {
	some position, option in call.argv
	option in {"--bind", "-b"}
	call.argv[position + 1] in {"localhost", "127.0.0.1", "::1"}
}

local_only(call) if {
	some option in call.argv
	option in {"--bind=localhost", "--bind=127.0.0.1", "--bind=::1", "-blocalhost", "-b127.0.0.1"}
}

# The environments of other people's processes, listed.
examined.lists_processes contains found("credentials", spelt(call)) if {
	some call in calls_of.lists_processes
	some operand in call.operands
	regex.match(`^[a-zA-Z]*e[a-zA-Z]*$`, operand)
}

# The output of another program, unless it only prints what the text says.
examined.sends contains found("sends_files", "") if {
	some call in piped
	"sends" in data.bailiff.tables.programs[call.pipes_to]
	not data.bailiff.tables.printers[call.program]
	not to_this_host
}

# Text that a substitution makes out of files, put into a name or a URL.
examined.sends contains found("sends_files", "") if {
	some call in calls_of.sends
	not to_this_host
	some word in call.argv
	contains(word, "$(")
	some path in reads
}

# The environment, all of it or a secret by name.
examined.sends contains found("sends_environment", "") if {
	count(dumps) > 0
}

dumps contains call if {
	some program, group in calls_by
	program in {"printenv", "env", "set", "export", "declare", "typeset"}
	some call in group
	dumps_environment(call)
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

examined.sends contains found("sends_environment", "") if {
	count(command.variables) > 0
	some call in calls_of.sends
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
examined.packs contains found("credentials", path) if {
	some call in calls_of.packs
	some path in call.reads
	data.bailiff.tables.paths.holders[path]
}

examined.packs_if_told contains found("credentials", path) if {
	some call in calls_of.packs_if_told
	told_to_pack(call)
	some path in call.reads
	data.bailiff.tables.paths.holders[path]
}

told_to_pack(call) if recursive(call)

told_to_pack(call) if "-a" in call.flags

# An upload to another machine, by programs whose operands are host:path.
examined.copies_over contains found("sends_files", spelt(call)) if {
	some call in calls_of.copies_over
	target := call.operands[count(call.operands) - 1]
	regex.match(`^[^/]+:`, target)
}

examined.copies_over contains found("another_host", spelt(call)) if {
	some call in calls_of.copies_over
	some operand in call.operands
	regex.match(`^[^/]+:`, operand)
}

# A shell that gets its text from a connection, or gives its output to one.
examined.tunnels contains found("reverse_shell", "") if {
	some call in calls_of.tunnels
	data.bailiff.tables.shells[call.pipes_to]
}

examined.tunnels contains found("reverse_shell", "") if {
	some call in piped
	"tunnels" in data.bailiff.tables.programs[call.pipes_to]
	data.bailiff.tables.shells[call.program]
}

examined.relays contains found("reverse_shell", spelt(call)) if {
	some call in calls_of.relays
	some operand in call.operands
	regex.match(`(?i)^(exec|system|shell):`, operand)
}
