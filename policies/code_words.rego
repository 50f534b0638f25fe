package bailiff

# METADATA
# title: What a method says that it loses
# description: |
#   Libraries that no table knows are honest by the names of their methods: "metadata.drop_all", "delete_repository". A
#   name that says a verb of loss and something whole is asked about in any library. A database in memory is made anew
#   by each run.
_examined.program contains _found("loss", called) if {
	some called in _code.calls
	words := split(called, ".")
	count(words) > 1
	not data.bailiff.tables.code_services[words[0]] # whose methods a table has
	parts := _parts_of_word(words[count(words) - 1])
	data.bailiff.tables.loss_words.verbs[parts[0]]
	some part in array.slice(parts, 1, count(parts))
	data.bailiff.tables.loss_words.many[part]
	not _only_in_memory
}

# "dropbox.files_delete_v2": the verb behind what it is about.
_examined.program contains _found("deletes_elsewhere", "") if {
	some called in _code.calls
	words := split(called, ".")
	"service" in data.bailiff.tables.code_services[words[0]]
	parts := _parts_of_word(words[count(words) - 1])
	not data.bailiff.tables.loss_words.tells[parts[0]]
	data.bailiff.tables.loss_words.verbs[parts[1]]
	parts[1] != "flush"
}

# METADATA
# title: What a method says that it reads
# description: |
#   "get_secret_value", "list_secret_for_all_namespaces": a library's name for what it gives is believed.
_examined.program contains _found("credentials", "") if {
	some called in _code.calls
	words := split(called, ".")
	count(words) > 1
	parts := _parts_of_word(words[count(words) - 1])
	data.bailiff.tables.secret_words.gets[parts[0]]
	some part in array.slice(parts, 1, count(parts))
	data.bailiff.tables.secret_words.kept[part]
}

_only_in_memory if {
	some text in _code.strings
	_in_memory(text)
	some called in _code.calls
	words := split(called, ".")
	words[count(words) - 1] in {"create_engine", "create_async_engine", "connect", "Database", "SqliteDatabase", "configure", "from_url"}
	every other in _code.strings {
		not _of_kept_database(other)
	}
	count(_code.variables) == 0
}

_in_memory(text) if text in {":memory:", "sqlite://", "sqlite:///:memory:", "sqlite+aiosqlite://", "sqlite+aiosqlite:///:memory:"}

_of_kept_database(text) if {
	regex.match(`^[a-z][a-z0-9+]*://`, text)
	not _in_memory(text)
	not startswith(text, "http")
}

# What describes the machine or its user, in what a program sends.
_examined.program contains _found("host_facts", "") if {
	"sends_machine" in _code.features
	not _to_hosts_of_tables
}

# METADATA
# title: Files of a folder, encrypted in their place
# description: |
#   Who has the key to all files of a folder has the files. A file that the text names is encrypted as its owner wants.
_examined.program contains _found("loss", "") if {
	count(_code_called & _listers) > 0
	some called in _code.calls
	words := split(called, ".")
	count(words) > 1
	_parts_of_word(words[count(words) - 1])[0] == "encrypt"
	regex.match(`(?i)crypt|nacl|aes`, words[0])
	"open" in _code_called
}

_listers := {
	"os.listdir", "os.walk", "os.scandir", "glob.glob", "glob.iglob", "pathlib.Path.glob", "pathlib.Path.rglob",
	"pathlib.Path.iterdir",
}
