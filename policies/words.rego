package bailiff

# METADATA
# title: Which rules look at words
# description: |
#   Rules about words of programs that no table knows look at each word of each call. Each needs one of some words of its tables,
#   or some sign, and is asked only where the text has one: most texts have none.
_aspects contains aspect if {
	some aspects in object.filter(_aspects_of_parts, _parts_said)
	some aspect in aspects
}

_aspects contains "bangs" if contains(_words_said, "!")

# The rules by the parts of words without which they find nothing.
_aspects_of_parts[part] contains "loss_words" if {
	some table in ["alone", "loses", "guards", "whole", "ends", "forced"]
	some word, _ in data.bailiff.tables.loss_words[table]
	some part in _parts_needed(word)
}

_aspects_of_parts[part] contains "secret_words" if {
	some table in ["alone", "secrets", "hides"]
	some word, _ in data.bailiff.tables.secret_words[table]
	some part in _parts_needed(word)
}

_aspects_of_parts[part] contains "attack_words" if {
	some word, _ in data.bailiff.tables.attack_words.options
	some part in _parts_needed(word)
}

_aspects_of_parts[part] contains "loading_words" if {
	some word, _ in data.bailiff.tables.loading_words
	some part in _parts_needed(word)
}

_aspects_of_parts[part] contains "clearing_words" if {
	some word, _ in data.bailiff.tables.clearing_words
	some part in _parts_needed(word)
}

# A word of a team's tables that looks like a path is looked for in every text.
_parts_needed(word) := _parts_of_word(word) if not _names_path(word)

_parts_needed(word) := ["."] if _names_path(word)

# All words of all calls. No word of a call has the character that stands between them.
_words_said := concat("\u0000\u0000", [word | word := _calls[_].argv[_]])

# The parts of the names of options, and of the other words that name no path, as _parts_of_word has them.
_parts_said := array.concat(["."], split(lower(regex.replace(apart, `[-_:=\x00]+`, "-")), "-")) if {
	apart := regex.replace(concat("-", regex.find_n(_names, _words_said, -1)), `([a-z])([A-Z])`, "$1-$2")
}

_names := `(?:^|\x00)(?:-[^=\x00]*|[^./\s\x00]+(?:\x00|$))`
