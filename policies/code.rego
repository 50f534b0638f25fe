# What a program of execute_code does.
#
# Its files, hosts, features and shell texts are judged by the same rules as a
# command's; here is only what has no counterpart in a shell text.

package bailiff

# The name of a function does not say what it is given.
examined.program contains found(class, "") if {
	some called in code.calls
	some class in data.bailiff.tables.code_calls[called]
}

examined.program contains found("hidden_code", "") if {
	not understood_code
}

understood_code if {
	code.parsed
	code.complete
}

examined.program contains found("destroys", path) if {
	some called in code.calls
	data.bailiff.tables.code_deleters[called]
	some path in code.writes
	root_folder(path)
}

examined.program contains found("sends_files", "") if {
	some called in code.calls
	data.bailiff.tables.code_senders[called]
	not to_this_host
	count(code.reads) > 0
}

examined.program contains found("sends_environment", "") if {
	some called in code.calls
	data.bailiff.tables.code_senders[called]
	not to_this_host
	some name in code.variables
	regex.match(`(?i)(key|token|secret|passw|credential)`, name)
	called in {"socket.socket", "socket.create_connection", "smtplib.SMTP", "ftplib.FTP"}
}

# A shell whose input and output are a connection.
examined.program contains found("reverse_shell", "") if {
	called := {name | some name in code.calls}
	"os.dup2" in called
	count(called & {"socket.socket", "socket.create_connection"}) > 0
}

# Names that a search finds are known to nobody here.
examined.program contains found("deletes_by_pattern", "") if {
	called := {name | some name in code.calls}
	count(called & {"glob.glob", "glob.iglob", "os.walk", "os.scandir"}) > 0
	count(called & {"os.remove", "os.unlink"}) > 0
}

# What a program given to Python in a shell text deletes or changes for good.
examined.python contains found("destroys", path) if {
	some call in calls_of.python
	some path in call.writes
	irreplaceable[path]
}

irreplaceable := {"/", "/bin", "/boot", "/etc", "/home", "/lib", "/root", "/usr", "/var", "~"}
