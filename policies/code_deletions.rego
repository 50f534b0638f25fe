package bailiff

# METADATA
# title: What a program deletes
# description: |
#   Finds programs that delete folders of the system, or names that only a search tells.
_examined.program contains _found("destroys", path) if {
	some called in _code.calls
	data.bailiff.tables.code_deleters[called]
	some path in _code.writes
	_root_folder(path)
}

# The names that a search finds are not in the text.
_examined.program contains _found("deletes_by_pattern", "") if {
	count(_code_called & {"glob.glob", "glob.iglob", "os.walk", "os.scandir", "pathlib.Path.glob", "pathlib.Path.rglob"}) > 0
	count(_code_called & _deleters_of_files) > 0
}

# To list a folder is common beside the deletion of a file that the text names.
_examined.program contains _found("deletes_by_pattern", "") if {
	count(_code_called & {"os.listdir", "pathlib.Path.iterdir"}) > 0
	count(_code_called & _deleters_of_files) > 0
	count(_code.loses) == 0
}

_code_called := {name | some name in _code.calls}

_deleters_of_files := {"os.remove", "os.unlink", "pathlib.Path.unlink"}

# What a program given to Python in a shell text deletes or changes for good.
_examined.python contains _found("destroys", path) if {
	some call in _calls_of.python
	some path in call.writes
	_irreplaceable[path]
}

_irreplaceable := {"/", "/bin", "/boot", "/etc", "/home", "/lib", "/root", "/usr", "/var", "~"}
