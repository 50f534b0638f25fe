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

# By words that an entry excuses a call is none of its classes: each is such a word, and one that is no option's value tries only.
_excepted_by_text(call, _, class) if {
	some entry in _program_entries(call.program)
	some excuse in entry.excuses
	class in excuse.classes
	_is_alone_where_due(call, excuse)
	words := array.slice(call.argv, 1, count(call.argv))
	_begins_as_due(call, excuse)
	every word in words {
		some pattern in excuse.words
		regex.match(pattern, word)
	}
	_only_tries(call, excuse)
	_has_due_values(call, excuse)
	not _is_turned(excuse)
}

# A variable may name another place: "BUILDX_BUILDER=far docker buildx build --load .".
_is_turned(excuse) if {
	some name in _command.assigns
	name in excuse.unset
}

# What an option is given may be held to more than the other words: "--build-arg NAME" hands over a variable.
_has_due_values(_, excuse) if not excuse.values

_has_due_values(call, excuse) if {
	every position, word in call.argv {
		_has_due_value(call, excuse, position, word)
	}
}

_has_due_value(_, excuse, _, word) if not excuse.values[split(word, "=")[0]]

_has_due_value(call, excuse, position, word) if regex.match(excuse.values[word], call.argv[position + 1])

_has_due_value(_, excuse, _, word) if {
	at := indexof(word, "=")
	regex.match(excuse.values[substring(word, 0, at)], substring(word, at + 1, -1))
}

_is_alone_where_due(_, excuse) if not excuse.alone

_is_alone_where_due(call, excuse) if {
	excuse.alone
	_is_whole_text(call)
}

_begins_as_due(_, excuse) if not excuse.first

_begins_as_due(call, excuse) if _starts_at(call, excuse, 1)

_begins_as_due(call, excuse) if _starts_at(call, excuse, _behind(call, 1))

_begins_as_due(call, excuse) if _starts_at(call, excuse, _behind(call, _behind(call, 1)))

# "buildx build": the words of a verb, at a place.
_starts_at(call, excuse, at) if {
	some start in excuse.first
	words := split(start, " ")
	array.slice(call.argv, at, at + count(words)) == words
}

_is_of_verb(excuse, word) if {
	some start in excuse.first
	word in split(start, " ")
}

_only_tries(_, excuse) if not excuse.needs

_only_tries(call, excuse) if {
	some position, word in call.argv
	position > 0
	regex.match(excuse.needs, word)
	not _is_of_verb(excuse, word)
	not call.argv[position - 1] in object.get(excuse, "valued", [])
}

# Words of rclone name programs to start, doors to open, other settings and remotes that are written in place.
_opens_more(call) if {
	call.program == "rclone"
	some word in array.slice(call.argv, 1, count(call.argv))
	not regex.match(_word_of_rclone, word)
}

# What "docker compose config" shows it may write.
_opens_more(call) if {
	call.program == "docker"
	{"compose", "config"} & {word | some word in call.argv} == {"compose", "config"}
	some word in call.argv
	regex.match(`^(-[a-z]*o.*|--output(=.*)?)$`, word)
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
