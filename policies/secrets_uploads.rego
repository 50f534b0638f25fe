package bailiff

# METADATA
# title: Files that are uploaded
# description: |
#   An ordinary API call names a URL, headers and a body. A file as body, form field or
#   upload is asked about.
_examined.uploads contains _found("sends_files", _sent(call, path)) if {
	some call in _calls_of.uploads
	not _to_this_host
	some path in call.reads
	not path in _configuring(call)
}

# "name=<file" of a form and "name@file" of a field to encode are files as well.
_examined.uploads contains _found("sends_files", _spelt(call)) if {
	some call in _calls_of.uploads
	not _to_this_host
	some position, option in call.argv
	word := call.argv[position + _following(option)]
	_names_a_file(option, word)
}

_sent(call, path) := _spelt(call) if _stands_in(path, call)

_sent(call, path) := "" if not _stands_in(path, call)

_names_a_file("-F", word) if contains(word, "=<")

_names_a_file("--form", word) if contains(word, "=<")

_names_a_file("POST", word) if regex.match(`^[\w-]*@`, word)

_names_a_file("post", word) if regex.match(`^[\w-]*@`, word)

_names_a_file("PUT", word) if regex.match(`^[\w-]*@`, word)

_names_a_file("--data-urlencode", word) if regex.match(`^[\w.-]*@`, word)

# The method of a request comes before its address, an option before its value.
_following(option) := 2 if option in {"POST", "PUT", "post"}

_following(option) := 1 if not option in {"POST", "PUT", "post"}

# Options that name a file which is read here and not sent.
_configuring(call) := {path |
	some position, option in call.argv
	data.bailiff.tables.local_options[option]
	word := call.argv[position + 1]
	some path in ({word} | {path | some path in call.reads; endswith(path, concat("/", ["", trim_prefix(word, "./")]))})
}
