package bailiff

# METADATA
# title: What git would lose
# description: |
#   Commits, branches, merges and pushes of a branch are ordinary work. Discarding
#   uncommitted work is not, nor is rewriting history that others may have.
_examined.versions contains _found(class, _spelt(call)) if {
	some call in _calls_of.versions
	some class in _done_to_versions(call)
}

# What a call does by itself, without the calls beside it. Of most calls the verb and the options say all.
_done_to_versions(call) := union({
	_verb_does(verb, call.flags),
	{"history" | _rewrites(verb, _flags(call.flags), call)},
	_words_do(verb, call),
	_given_do(call),
}) if {
	verb := call.operands[0]
} else := _given_do(call)

_flags(all) := {flag | some flag in all}

_verb_does(verb, flags) := ({"inline" | some flag in flags; data.bailiff.tables.git_options[verb][flag]} | {class |
	some flag in array.concat(flags, [""])
	some class in data.bailiff.tables.git_verbs[verb][flag]
}) | {"history" | _rewrites_by_options(verb, _flags(flags))}

# The verb stands in the body, where OPA's index chooses by it.
default _words_do(_, _) := set()

_words_do(verb, call) := {"sends_files" | _pushes_to_address(call)} if verb == "push"

_words_do(verb, call) := _config_does(call) if verb == "config"

# What is given for one call: settings, programs.
_given_do(call) := set() if {
	not regex.match(`(^|\x00)(-c|--config|--exec-path=|(--remote=)?ext::)`, concat("\u0000", call.argv))
} else := union({
	{class | some setting in _git_given(call); some class in _given_does(setting)},
	{"history" | some setting in _git_given(call); _keeps_nothing(call.operands[0], setting)},
	{"inline" | regex.match(`(^|\x00)((--remote=)?ext::|--(config-env|exec-path=))`, concat("\u0000", call.argv))},
})

# A setting for one call leads elsewhere, plants a program or starts one.
_given_does(setting) := ({"redirected" |
	_leads_git_elsewhere(lower(split(setting, "=")[0]), regex.replace(setting, `^[^=]*=?`, ""))
} | {"startup" |
	regex.match(`(?i)^(core\.hookspath|include\.path|includeif\.|init\.templatedir)`, setting)
}) | {"inline" | _starts_program(setting)}

# So does one that stays.
_config_does(call) := {"startup" |
	_plants(_git_set(call))
	not _shortens(call)
} | {"redirected" |
	_leads_git_elsewhere(_git_set(call), call.operands[count(call.operands) - 1])
	not startswith(_git_set(call), "remote.")
}

_rewrites_by_options(verb, flags) if {
	verb == "push"
	count(flags & _forcing) > 0
}

_forcing := {"-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "-d", "--prune"}

_rewrites(verb, _, call) if {
	verb == "push"
	strings.any_prefix_match(array.slice(call.operands, 1, count(call.operands)), ["+", ":"])
}

_rewrites_by_options(verb, flags) if {
	verb == "reset"
	count(flags & {"--hard", "--merge", "--keep"}) > 0
}

_rewrites(verb, flags, call) if {
	verb == "clean"
	count(flags & {"-f", "--force"}) > 0
	count(flags & {"-n", "--dry-run"}) == 0
	not _cleans_built(flags, call)
}

# What git ignores, by the names of what a build makes.
_cleans_built(flags, call) if {
	"-X" in flags
	count(call.operands) > 1
	every operand in array.slice(call.operands, 1, count(call.operands)) {
		data.bailiff.tables.disposable[trim_prefix(operand, "./")]
	}
}

_rewrites_by_options(verb, flags) if {
	verb == "branch"
	"-D" in flags
}

_rewrites_by_options(verb, flags) if {
	verb == "branch"
	count(flags & {"-d", "--delete"}) > 0
	count(flags & {"-f", "--force"}) > 0
}

_rewrites(verb, _, call) if {
	verb == "checkout"
	some word in call.operands
	_whole_folder(word)
}

# Words after "--" are paths.
_rewrites(verb, _, call) if {
	verb == "checkout"
	some position, "--" in call.argv
	some word in array.slice(call.argv, position + 1, count(call.argv))
	_names_folder(word)
}

_rewrites(verb, flags, call) if {
	verb == "restore"
	some word in array.slice(call.operands, 1, count(call.operands))
	_names_folder(word)
	_over_files(flags)
}

# The index alone may be restored again.
_over_files(flags) if count(flags & {"--staged", "-S"}) == 0

_over_files(flags) if count(flags & {"--worktree", "-W"}) > 0

_whole_folder(word) if regex.match(`^(\.{1,2}/?)+$|^:/|^:\(|/$|[*?]`, word)

_names_folder(word) if _whole_folder(word)

# A name without an ending, written small, is a folder's.
_names_folder(word) if regex.match(`(^|/)[a-z0-9_-]+$`, word)

_rewrites_by_options(verb, flags) if {
	verb == "rm"
	count(flags & {"-f", "--force"}) > 0
	"-r" in flags
	not "--cached" in flags
}

_rewrites(verb, _, call) if {
	verb == "clean"
	some setting in _git_given(call)
	regex.match(`(?i)^clean\.requireforce=(false|0|no|off)$`, setting)
	count({flag | some flag in call.flags} & {"-n", "--dry-run"}) == 0
}

# A branch that is there already moves away from its commits.
_rewrites_by_options(verb, flags) if {
	verb == "branch"
	count(flags & {"-f", "--force", "-C"}) > 0
}

_rewrites(verb, flags, call) if {
	verb == "branch"
	"-M" in flags
	count(call.operands) > 2
}

_rewrites_by_options(verb, flags) if {
	some flag in data.bailiff.tables.git_losing[verb]
	flag in flags
}

_rewrites(verb, _, call) if {
	verb in {"update-ref", "symbolic-ref", "replace"}
	count(call.operands) > 2
}

# A branch of this repository, with any content.
_rewrites(verb, _, call) if {
	verb == "fetch"
	some word in call.operands
	regex.match(`^\+[^:]*:(refs/heads/|[^/]+$)`, word)
}

_rewrites_by_options(verb, flags) if {
	verb == "prune"
	count(flags & {"-n", "--dry-run"}) == 0
}

_rewrites(verb, flags, call) if {
	verb == "worktree"
	call.operands[1] == "remove"
	count(flags & {"-f", "--force"}) > 0
}

_rewrites_by_options(verb, flags) if {
	verb == "rebase"
	count(flags & {"--abort", "--continue", "--skip", "--quit", "--show-current-patch"}) == 0
}

_rewrites(verb, _, call) if {
	verb == "reflog"
	call.operands[1] in {"expire", "delete"}
}

_rewrites(verb, _, call) if {
	verb == "stash"
	call.operands[1] in {"drop", "clear"}
}

_rewrites_by_options(verb, flags) if {
	verb == "update-ref"
	"-d" in flags
}

_rewrites(verb, _, call) if {
	verb == "gc"
	some word in call.argv
	regex.match(`^--p[a-z]*=(now|all)$`, word)
}

# What nothing leads to any more goes at once.
_keeps_nothing(verb, setting) if {
	verb in {"gc", "prune", "reflog", "maintenance"}
	regex.match(`(?i)^gc\.(pruneexpire|reflogexpire|reflogexpireunreachable)=(now|all)$`, setting)
}

# Files that another file names.
_rewrites_by_options(verb, flags) if {
	verb == "checkout"
	"--pathspec-from-file" in flags
}

_rewrites_by_options(verb, flags) if {
	verb == "restore"
	"--pathspec-from-file" in flags
	_over_files(flags)
}

# A variable may be the option without which nothing is cleaned.
_rewrites(verb, _, call) if {
	verb == "clean"
	some word in array.slice(call.argv, 1, count(call.argv))
	regex.match(`^"?\$`, word)
}

_rewrites_by_options(command_name, _) if command_name in {"filter-branch", "filter-repo"}
