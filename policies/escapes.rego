package bailiff

# METADATA
# title: Shells out of programs
# description: |
#   Finds shells that wait for what is typed to them, started by another program: what is typed there is not
#   judged. So are words of an interactive program's own language, which the text has in a line of their own.
_examined.interprets contains _found("escapes", _spelt(call)) if {
	some call in _calls_of.interprets
	data.bailiff.tables.shells[call.program]
	count(call.wrappers) > 0
	some starter in call.wrappers
	not _has_trait(starter, "starts_shell")
	not data.bailiff.tables.shells[starter]
	_waits_for_input(call)
}

# A shell that keeps the rights of the owner of its file.
_examined.interprets contains _found("privilege", _spelt(call)) if {
	some call in _calls_of.interprets
	data.bailiff.tables.shells[call.program]
	call.program != "fish"
	regex.match(`^-[a-z]*p[a-z]*$`, call.argv[1])
}

# Macros of rpm start a shell, run Lua or read a file with more of them.
_examined.macros contains _found("inline", _spelt(call)) if {
	some call in _calls_of.macros
	some word in call.argv
	regex.match(`%\(|%[!?]*\{?[!?]*(lua|expr|load|include|expand|shell|dump|uncompress|trace)\b|\$|%\[`, word)
}

# A program that keeps a transcript starts a shell of its own. Where the transcript is thrown away, the shell is all that is left of it.
_examined.transcripts contains _found("escapes", _spelt(call)) if {
	some call in _calls_of.transcripts
	call.operands == ["/dev/null"]
	not _runs_a_text(call)
}

# The text is judged as one of its own.
_runs_a_text(call) if {
	some flag in call.flags
	flag in {"-c", "--command"}
}

# No script, no text, and nothing that flows into it.
_waits_for_input(call) if {
	every word in array.slice(call.argv, 1, count(call.argv)) {
		regex.match(`^--?[a-z]*$`, word)
		not regex.match(`^-[a-z]*c`, word)
	}
	count(call.reads) == 0
	not _fed(call.program)
}

_fed(program) if {
	some call in _piped
	call.pipes_to == program
}

# "!/bin/sh" and ":!sh" are commands of a pager or an editor.
_examined.bangs contains _found("escapes", _spelt(call)) if {
	some call in _calls
	contains(call.argv[0], "!")
	regex.match(`^(!|(\^K|:)!)\s*(/|$)|^(\^K|:)![a-z]`, call.argv[0])
}

# METADATA
# title: Memory of processes
# description: |
#   Finds reads of what another process has in memory, secrets among it.
_examined.paths contains _found("memory", path) if {
	some path in _reads
	startswith(path, "/proc/")
	not startswith(path, "/proc/self/")
	regex.match(`^/proc/[^/]+/(task/[^/]+/)?(mem|map_files)(/|$)`, path)
}

# METADATA
# title: Programs by the coordinates of a plugin
# description: |
#   Maven fetches a plugin that a call names by group, name and version, and runs it.
_examined.mavens contains _found("downloaded", _spelt(call)) if {
	some call in _calls_of.mavens
	some operand in call.operands
	regex.match(`^[\w.-]+:[\w.-]+:[\w.:-]+$`, operand)
	count({prefix | some prefix, _ in data.bailiff.tables.maven_plugins; startswith(operand, prefix)}) == 0
}
