package bailiff

# METADATA
# title: Verbs of command lines of clouds
# description: |
#   Services are many and their verbs few, so these are found by pattern in whichever
#   place they stand.
_examined.remote contains _found(class, _spelt(call)) if {
	some call in _calls_of.remote
	not _changes_nothing(call)
	call.operands[0] != "config"
	some pattern, classes in _patterns(call.program)
	some operand in array.slice(call.operands, 0, 6)
	regex.match(pattern, operand)
	some effect in classes
	class := _class_of_effect(effect)
	not _only_lists(call, class)
}

# "borg list ssh://…" names where it looks and sends nothing.
_only_lists(call, "sends_files") if {
	call.operands[0] in {"list", "ls", "info", "check", "diff", "status", "stat"}
}

_tries(call) if {
	some flag in call.flags
	flag in {"--help", "--dry-run", "--dryrun", "--generate-cli-skeleton"}
}

_changes_nothing(call) if _tries(call)

_changes_nothing(call) if _asks_for_version(call)

# METADATA
# title: Services of many kinds
# description: |
#   Clients whose verbs no table lists one by one, by the verbs that all of them have.
_examined.service contains _found(class, _spelt(call)) if {
	some call in _calls_of.service
	not _changes_nothing(call)
	not _harmless(call)
	not _looks(call)
	some pattern, classes in data.bailiff.tables.remote_verbs["*"]
	some operand in array.slice(call.operands, 0, 3)
	regex.match(pattern, operand)
	some class in classes
}

# METADATA
# title: Programs that no table knows
# description: |
#   One whose words say that something is deleted, published or deployed may do that.
_may_change(call) if {
	_is_unknown(call.program)
	some operand in array.slice(call.operands, 0, 2 + _leading_values(call))
	_is_drastic(operand)
	not _looks(call)
	count(_classes_of_options(call)) == 0
	count(_classes_of_words(call)) == 0
}

# "app get delete-protection"
_looks(call) if {
	some operand in array.slice(call.operands, 0, 2)
	operand in {
		"list", "ls", "get", "show", "describe", "view", "help", "search", "status", "info", "inspect", "diff", "logs",
		"explain", "check", "version", "plan", "validate", "lint",
	}
}

# "artifact rm", "compute instance delete": the verb behind the names of kinds of things.
_may_change(call) if {
	_is_unknown(call.program)
	some at, verb in array.slice(call.operands, 0, 3 + _leading_values(call))
	regex.match(_ending_verb, verb)
	_names_kinds(array.slice(call.operands, min([at, _leading_values(call)]), at))
	not _looks(call)
	count(_classes_of_options(call)) == 0
	count(_classes_of_words(call)) == 0
}

_names_kinds(words) if {
	count(words) in {1, 2}
	every word in words {
		regex.match(`^[a-z][a-z-]+$`, word)
		not _has_trait(word, "prints")
		not _has_trait(word, "looks")
	}
}

# "acme-delete": a program that is a verb.
_may_change(call) if {
	_is_unknown(call.program)
	call.argv[0] == call.program
	regex.match(`^([a-z]+[-_])+(delete|destroy|purge|wipe|erase|drop|decommission|undeploy)$`, call.program)
	count(call.argv) > 1
}

_is_drastic(operand) if regex.match(_drastic, operand)

# "clearsnapshot", "removenode": what ends something and what is kept, in one word.
_is_drastic(operand) if {
	some found in regex.find_all_string_submatch_n(_joined, operand, 1)
	some kept in [found[1], trim_suffix(found[1], "s")]
	some names in ["kept", "joined"]
	data.bailiff.tables.loss_words[names][kept]
}

_drastic := concat("", [
	`^((batch|bulk|admin|force|mass)[-_])?`,
	`(delete|destroy|purge|wipe|drop|revoke|terminate|erase|undeploy|decommission|deprovision|assassinate|expunge|evict)([-_][a-z_-]+)?$`,
	`|^(burn|blow)[-_][a-z_-]+$|^[a-z]+[-_](delete|destroy|purge|wipe|drop|terminate|erase|undeploy|decommission)$`,
	`|^(publish|deploy)$|^(Delete|Destroy|Purge|Wipe|Drop|Revoke|Terminate|Erase)[A-Z][A-Za-z]*$`,
])

_ending_verb := `^(rm|remove|del|unlink|prune|reset|delete|destroy|purge|wipe|drop|revoke|terminate|erase)$`

_joined := `^(?:remove|clear|delete|destroy|drop|truncate|flush|purge|wipe|erase|reset|reinit)([a-z]{3,})$`

# METADATA
# title: Deletions by a list
# description: |
#   A client's verb that ends one thing ends as many as a list names: "tool keys | xargs tool del".
_examined.supplied contains _found("deletes_elsewhere", _spelt(call)) if {
	some call in _calls
	some wrapper in call.wrappers
	_has_trait(wrapper, "supplies")
	_serves_others(call.program)
	some operand in array.slice(call.operands, 0, 2 + _leading_values(call))
	regex.match(`^(del|delete|rm|remove|destroy|drop|purge|unlink|revoke)([-_:].*)?$`, operand)
	not _looks(call)
}

# A client of a service, or what may be one.
_serves_others(program) if {
	not data.bailiff.tables.loss_words.names[program]
	some kind in _kinds_of(program)
	kind in {"service", "queries", "remote"}
}

_serves_others(program) if _is_unknown(program)

# METADATA
# title: Secrets of a cluster
# description: |
#   To show or describe a secret prints it, however its kind and its name are joined.
_examined.clusters contains _found("credentials", _spelt(call)) if {
	some call in _calls_of.clusters
	call.operands[0] in {"get", "describe", "edit"}
	some operand in array.slice(call.operands, 1, count(call.operands))
	regex.match(`(?i)(^|,)(secrets?|sealedsecrets?)([./,]|$)`, operand)
	not _names_alone(call)
}

# The settings of a client with its keys.
_examined.clusters contains _found("credentials", _spelt(call)) if {
	some call in _calls_of.clusters
	array.slice(call.operands, 0, 2) == ["config", "view"]
	some word in call.argv
	regex.match(`^--raw|^\$`, word)
}

# A listing by names shows none of what is in them.
_names_alone(call) if {
	call.operands[0] == "get"
	some word in call.argv
	word in {"-o=name", "--output=name", "-oname"}
}

# METADATA
# title: Servers for other machines
# description: |
#   A server of files or of a notebook that listens on every address is open to the
#   network. Some listen there unless they are told otherwise.
_examined.listens contains _found("serves", _spelt(call)) if {
	some call in _calls_of.listens
	some word in call.argv
	regex.match(`^(--?[A-Za-z-]+=)?(0\.0\.0\.0|\[?::\]?)(:[0-9]+)?$`, word)
}

# One that listens on every address unless it is told otherwise. Their names are verbs of other programs.
_examined.listens_widely contains _found("serves", _spelt(call)) if {
	some call in _calls_of.listens_widely
	every wrapper in call.wrappers {
		_has_trait(wrapper, "starts_plainly")
	}
	not _changes_nothing(call)
	not _names_this_host(call)
}

_names_this_host(call) if {
	some word in call.argv
	regex.match(`^(--?[A-Za-z-]+=)?([a-z]+://)?(127\.[0-9.]+|localhost|\[?::1\]?)(:[0-9]+)?$`, word)
}

# What makes tor a relay, or a service of this machine reachable through others. It takes the names of its settings in capitals or
# small letters, with dashes before them or without.
_examined.relays contains _found("serves", _spelt(call)) if {
	some call in _calls_of.relays
	some word in call.argv
	regex.match(`(?i)^[-+/]*(ext)?(orport|dirport|bridgerelay|exitrelay|hiddenservice(dir|port))$`, word)
}

# A server that shows a home or the system.
_examined.listens contains _found("serves", _spelt(call)) if {
	some call in _calls_of.listens
	some word in call.argv
	_serves_files(call)
	_root_folder(trim_suffix(word, "/"))
}

_serves_files(call) if {
	some word in call.argv
	word in {"-S", "http.server", "serve", "http-server", "live-server"}
}

# METADATA
# title: Requests that delete
# description: |
#   An address of an API names what a request with this method deletes.
_examined.uploads contains _found(class, _spelt(call)) if {
	some call in _calls_of.uploads
	some class in _asked_by_method(call)
}

_examined.asks_an_api contains _found(class, _spelt(call)) if {
	some call in _calls_of.asks_an_api
	some class in _asked_by_method(call)
}

# Addresses that delete by any method.
_examined.uploads contains _found("deletes_elsewhere", _spelt(call)) if {
	some call in _calls_of.uploads
	some word in call.argv
	regex.match(`(?i)^[^ ]*/(_delete_by_query|dodelete|delete-all|flushall)([/?]|$)`, word)
}

# "curl -Q 'DELE x' ftp://…"
_examined.uploads contains _found("deletes_elsewhere", _spelt(call)) if {
	some call in _calls_of.uploads
	some word in call.argv
	regex.match(`^[-+*]?(DELE|RMD|RNFR) `, word)
}

_asked_by_method(call) := (_methods_behind_options(call) | _methods_as_words(call)) | _methods_before_address(call)

# A method that stands before an address may be written small.
_methods_before_address(call) := {class |
	data.bailiff.tables.method_first[call.program]
	class := data.bailiff.tables.remote_methods[upper(call.operands[0])]
}

_methods_behind_options(call) := {class |
	some position, option in call.argv
	option in {"-X", "--request", "--method"}
	class := data.bailiff.tables.remote_methods[upper(call.argv[position + 1])]
}

_methods_as_words(call) := {class |
	some word in call.argv
	some method, class in data.bailiff.tables.remote_methods
	regex.match(concat("", ["^(-X|--request=|--method=)?", method, "$"]), word)
}

# The port of an engine, or of a cluster's node or store.
_examined.sends contains _found("containers", _spelt(call)) if {
	some call in _calls_of.sends
	some word in call.argv
	regex.match(`^([a-z]+://)?[^/@]*:(2375|2376|2379|2380|10250|10255)(/|$)`, word)
}
