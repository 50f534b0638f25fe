package bailiff

# METADATA
# title: What is only tried or looked at
# description: |
#   A call that shows what it would do does nothing. Variables and patterns may stand for words that take this back, and other
#   calls may change what a program is: most of these calls are told by the whole text, which is spelt with plain signs then.
_is_whole_text(call) if {
	count(_calls) == 1
	call.argv[0] == call.program
	regex.match(`^[A-Za-z0-9 ._/:=@%+{}?!'"-]+$`, _command.text)
	concat(" ", call.argv) == regex.replace(_command.text, `['"]`, "")
}

# "kubectl apply -f k8s --dry-run=client"
_excepted(call, "containers") if {
	call.program in {"kubectl", "oc"}
	_is_trial(call, _trials.kubectl)
}

# "helm upgrade web ./chart --dry-run"
_excepted_by_text(call, source, "containers") if {
	source != "by options"
	call.program == "helm"
	_is_whole_text(call)
	_is_trial(call, _trials.helm)
}

# The words of a trial are operands and options such that start nothing. The word behind an option that takes a value is its
# value, whatever it says.
_is_trial(call, trial) if {
	call.argv[1] in trial.verbs
	words := array.slice(call.argv, 1, count(call.argv))
	every word in words {
		_is_word_of(word, trial)
	}
	some position, word in call.argv
	word in trial.tries
	not call.argv[position - 1] in trial.valued
	count([other | some other in words; startswith(other, "--dry-run")]) == 1
}

_is_word_of(word, trial) if regex.match(trial.operand, word)

_is_word_of(word, trial) if word in (trial.valued | trial.flags)

_is_word_of(word, _) if startswith(word, "--dry-run")

_trials := {
	"kubectl": {
		"verbs": {
			"apply", "create", "delete", "expose", "label", "annotate", "replace", "scale", "autoscale", "drain",
			"cordon", "taint",
		},
		"operand": `^[A-Za-z0-9./]`,
		"valued": {"-f", "-n", "-o", "-k", "--filename", "--namespace", "--output", "--kustomize"},
		"flags": {"-R", "--recursive"},
		"tries": {"--dry-run=client", "--dry-run=server"},
	},
	"helm": {
		"verbs": {"install", "upgrade", "uninstall", "delete", "rollback"},
		# No address: a chart from there is fetched.
		"operand": `^[A-Za-z0-9./][A-Za-z0-9._/-]*$`,
		"valued": {"-n", "-f", "--namespace", "--values", "--version"},
		"flags": {"-i", "--install", "--wait", "--create-namespace"},
		"tries": {"--dry-run", "--dry-run=client"},
	},
}

# A trial of rsync deletes nothing. Its words are operands and options without a value, so that none of them is a value.
_excepted_by_text(call, "by options", "deletes_recursively") if {
	call.program == "rsync"
	_is_whole_text(call)
	words := array.slice(call.argv, 1, count(call.argv))
	every word in words {
		regex.match(_word_of_rsync, word)
	}
	some word in words
	regex.match(`^-[a-zA-Z]*n|^--(dry-run|list-only)$`, word)
}

_word_of_rsync := concat("|", [
	`^[A-Za-z0-9./][A-Za-z0-9._/:@-]*$`,
	`^-[acghilmnoprtuvzDHP]+$`,
	`^--(dry-run|list-only|delete(-before|-during|-delay|-after|-excluded)?|archive|recursive|checksum|compress)$`,
	`^--(verbose|progress|stats|human-readable|itemize-changes)$`,
])

# "rpm --eval '%{_libdir}'", where nothing but macros without arguments stands, and no option defines or loads one.
_excepted_by_text(call, "by options", "inline") if {
	call.program == "rpm"
	_is_whole_text(call)
	every word in array.slice(call.argv, 1, count(call.argv)) {
		regex.match(`^(-E|--eval|%[A-Za-z_]\w*|%\{[!?]*[A-Za-z_]\w*\})$`, word)
	}
}

# Words of rclone name programs to start, doors to open, other settings and remotes that are written in place.
_opens_more(call) if {
	call.program == "rclone"
	some word in array.slice(call.argv, 1, count(call.argv))
	not regex.match(_word_of_rclone, word)
}

_done contains ["by name", class, call] if {
	_doers.rclone
	some name in _command.assigns
	startswith(name, "RCLONE_")
	some call in _calls
	call.program == "rclone"
	some class in _classed(call.program)
	not _asks_for_help(call)
}

_word_of_rclone := concat("", [
	`^([A-Za-z0-9_.~/*][^,$]*|-[vqPRpsFlhi]+|--(max-depth|(max|min)-(age|size)|include|exclude|filter|format|separator`,
	`|csv|json|fast-list|human-readable|dirs-only|files-only|recursive|hash|absolute|progress|verbose|quiet|full|level|size`,
	`|sort|long|head|tail|offset|count|checksum|size-only|one-way|download|stats|transfers|checkers|help|version)(=[^,$]*)?)$`,
])
