# What a program of execute_code does.
#
# Its files, hosts, features and shell texts are judged by the same rules as a
# command's; here is only what has no counterpart in a shell text.

package bailiff

examined.program contains found(class, called) if {
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

examined.program contains found("sends_files", path) if {
	some called in code.calls
	data.bailiff.tables.code_senders[called]
	not to_this_host
	some path in code.reads
}

examined.program contains found("sends_environment", called) if {
	some called in code.calls
	data.bailiff.tables.code_senders[called]
	not to_this_host
	some name in code.variables
	regex.match(`(?i)(key|token|secret|passw|credential)`, name)
	called in {"socket.socket", "socket.create_connection", "smtplib.SMTP", "ftplib.FTP"}
}

# A shell whose input and output are a connection.
examined.program contains found("reverse_shell", "os.dup2") if {
	called := {name | some name in code.calls}
	"os.dup2" in called
	count(called & {"socket.socket", "socket.create_connection"}) > 0
}

# Names that a search finds are known to nobody here.
examined.program contains found("deletes_by_pattern", deleter) if {
	called := {name | some name in code.calls}
	count(called & {"glob.glob", "glob.iglob", "os.walk", "os.scandir"}) > 0
	some deleter in (called & {"os.remove", "os.unlink"})
}

# What a program given to Python in a shell text deletes or changes for good.
examined.python contains found("destroys", path) if {
	some call in calls_of.python
	some path in call.writes
	irreplaceable[path]
}

irreplaceable := {"/", "/bin", "/boot", "/etc", "/home", "/lib", "/root", "/usr", "/var", "~"}
