package bailiff

# METADATA
# title: What a Python program does
# description: |
#   It is the text of execute_code, or stands in a shell text that gives it to Python.
#   Its files, hosts, features and shell texts are judged by the same rules as a
#   command's. Here is only what has no counterpart in a shell text. The name of a
#   function does not say what it is given, so the match is empty.
_examined.program contains _found(class, "") if {
	some called in _code.calls
	some class in data.bailiff.tables.code_calls[called]
}

# METADATA
# title: What a Python program does to services
# description: |
#   A method of what a library of a service gave, such as boto3.delete_bucket: a verb of a client's command
#   line, and judged as one.
_examined.program contains _found(class, "") if {
	some called in _code.calls
	words := split(called, ".")
	some kind in data.bailiff.tables.code_services[words[0]]
	some pattern, classes in data.bailiff.tables.code_methods[kind]
	regex.match(pattern, words[count(words) - 1])
	some class in classes
}

_examined.program contains _found("hidden_code", "") if {
	input.tool == "execute_code"
	not _understood_code
}

_understood_code if {
	_code.parsed
	_code.complete
}

# A socket of a container engine, of bailiff or of an agent.
_examined.program contains _found(class, path) if {
	some path in _code.writes
	parts := split(path, "/")
	class := data.bailiff.tables.sockets[parts[count(parts) - 1]]
}

# A shell whose input and output are a connection.
_examined.program contains _found("reverse_shell", "") if {
	called := {name | some name in _code.calls}
	"os.dup2" in called
	count(called & {"socket.socket", "socket.create_connection"}) > 0
}

# METADATA
# title: What a program sends
# description: |
#   Finds programs that send files or secrets of the environment to another host. Of a program in a shell
#   text the features tell it, which know what is sent.
_examined.program contains _found("sends_files", "") if {
	input.tool == "execute_code"
	some called in _code.calls
	data.bailiff.tables.code_senders[called]
	not _to_this_host
	count(_code.reads) > 0
}

_examined.program contains _found("sends_environment", "") if {
	input.tool == "execute_code"
	some called in _code.calls
	data.bailiff.tables.code_senders[called]
	not _to_this_host
	some name in _code.variables
	regex.match(`(?i)(key|token|secret|passw|credential)`, name)
	called in {"socket.socket", "socket.create_connection", "smtplib.SMTP", "ftplib.FTP"}
}
