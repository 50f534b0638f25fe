package bailiff

# METADATA
# title: What a request reads and writes
# description: |
#   A finding for each path that a table names.
_examined.paths contains _found(class, path) if {
	some ["writes", class, path] in _named_paths
	not _only_let_run(class, path)
}

_examined.paths contains _found(class, path) if {
	some ["reads", class, path] in _named_paths
	not _only_looked_at(path)
}

_examined.brings contains _found("own_settings", path) if {
	some call in _calls_of.brings
	some path in call.writes
	regex.match(`(^|/)(policies|bailiff)$`, path)
	some brought in call.reads
	endswith(brought, ".rego")
}

# Programs that show a name or a date of a file do not show what is in it. What a redirection opens is read by the program that reads its
# input, which may be no program: a loop, a group of commands.
_only_looked_at(path) if {
	not _opens_by_redirection
	readers := {call | some call in _calls; path in call.reads}
	count(readers) > 0
	every call in readers {
		_shows_little(call)
	}
}

# A file that is run may have one where the text has none.
_opens_by_redirection if {
	_features.redirect
	count(object.get(_command, "files", [])) > 0
}

_opens_by_redirection if {
	_features.redirect
	regex.match(`<([^(]|$)`, _command.text)
}

_shows_little(call) if _has_trait(call.program, "looks")

# "cut -d= -f1 .env" shows names without their values.
_shows_little(call) if _excepted_by_text(call, "by name", "credentials")

# A program that stands where programs are trusted to lie may be let run: what is in it, and who may change it, stays as it was. Only
# there: in other folders of the system what can be run is run without a call of it.
_only_let_run("system", path) if {
	[[_, folder, name]] := regex.find_all_string_submatch_n(`^(.*)/([\w.+-]+)$`, path, 1)
	name != ".."
	data.bailiff.tables.trusted_folders[folder]
	writers := {call | some call in _calls; path in call.writes}
	count(writers) > 0
	not "redirect" in _features # of a block of calls
	every call in writers {
		call in _calls_of.modes
		count(call.flags) == 0
		regex.match(`^[ugoa]*\+x$`, call.operands[0])
	}
	not _written_by_code(path)
}

_written_by_code(path) if path in _code.writes
