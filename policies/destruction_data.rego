package bailiff

# METADATA
# title: Data of databases
# description: |
#   SQL is read from the whole text once a client of a database is called.
_examined.queries contains _found("sql", _spelt(call)) if {
	some call in _calls_of.queries
	count(_statements(concat(" ", call.argv))) > 0
}

# What a client reads elsewhere is not told by its words.
_examined.queries contains _found("sql", "") if {
	given := {statement |
		some call in _calls_of.queries
		some statement in _statements(concat(" ", call.argv))
	}
	count(_statements(_command.text) - given) > 0
}

# SQL that makes accounts of a database, or lets one do more.
_examined.queries contains _found("grants", _spelt(call)) if {
	some call in _calls_of.queries
	_grants_by(concat(" ", call.argv))
}

_examined.queries contains _found("grants", "") if {
	_grants_by(_command.text)
	every call in _calls_of.queries {
		not _grants_by(concat(" ", call.argv))
	}
}

_grants_by(text) if regex.match(_granting_sql, _plain_sql(text))

_granting_sql := `\bgrant\s+[\w\s,*()]+\s(on\s+\S+\s+)?to\s|\b(create|alter)\s+(user|role|login)\s+[\w"']`

_statements(text) := {statement |
	some statement in regex.find_n(_destructive_sql, _plain_sql(text), -1)
} | {statement |
	some statement in regex.find_n(`\bupdate\s+[\w."]+\s+set\s[^;]*`, _plain_sql(text), -1)
	not _chooses_rows(statement)
}

_chooses_rows(statement) if {
	regex.match(`\swhere\s`, statement)
	not regex.match(`\swhere\s+\(?\s*(true\b|[0-9]+\s*(=|;|$|["')]))`, statement)
}

# Without comments; a property of an object may be spelt as an index.
_plain_sql(text) := regex.replace(regex.replace(lower(text), `/\*[^*]*\*/`, " "), `\[\s*["']([a-z]+)["']\s*\]`, ".$1")

# Commands of a database's client that start a shell.
_examined.queries contains _found("inline", _spelt(call)) if {
	some call in _calls_of.queries
	some word in call.argv
	regex.match(`(?i)(^|[\s;])\\!|\b(to|from)\s+program\s+'|^\s*(\.(sh|sy)\w*|system)\s|^\s*\.\w+\s[^|]*\|`, word)
}

# SQL and commands that load a library into the client or its server.
_examined.queries contains _found("preload", _spelt(call)) if {
	some call in _calls_of.queries
	some word in call.argv
	regex.match(_loading_sql, word)
}

_loading_sql := concat("", [
	`(?i)\b(load_extension|fts3_tokenizer)\s*\(|^\s*\.load\s|(^|;)\s*(force\s+)?(install|load)\s+'?[\w./]`,
	`|\binstall\s+plugin\b|\bsoname\b`,
])

_examined.program contains _found("sql", "") if {
	some module in _code.imports
	data.bailiff.tables.code_databases[module]
	some text in _code.strings
	regex.match(_destructive_sql, lower(text))
}

_destructive_sql := concat("|", [
	`\bdrop\s+(table|database|schema|view|index|user|role|keyspace|collection|type|sequence)\b`,
	`\btruncate\s+(table\s+)?[\w."]+`,
	`\bdelete\s+from\s+[\w."]+\s*([;"')]|$|\n|where\s+(1|true)\b)`,
	`\balter\s+table\s+[\w."]+\s+drop\b`,
	`\bflush(all|db)\b|\bdropdatabase\(|\.drop\(\)|\b(deletemany|updatemany|remove)\(\s*\{\s*\}`,
	`\bdetach\s+delete\b`,
])
