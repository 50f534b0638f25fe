package bailiff

# METADATA
# title: What a finding says
# description: |
#   The rule and the sentence of a class are in the table. A grant for more than once
#   covers each request with the same rule and match, so the match must say all that
#   matters: the whole call, or the one path or word that the finding is about, whatever
#   else the call says. A finding whose text cannot say so much has no match, and is
#   granted once.
_found(class, match) := object.union(
	{
		"rule": data.bailiff.tables.classes[class].rule,
		"message": data.bailiff.tables.classes[class].message,
		"match": _told(match),
	},
	object.filter(data.bailiff.tables.classes[class], {"severity", "attack"}),
)

# A part that the text does not tell may be another one the next time. Long texts are
# cut for people, and are still told apart.
_told(match) := "" if {
	regex.match(`[$\x00]|\(…\)`, match)
} else := match if {
	count(match) <= 200
} else := concat(" … ", [substring(match, 0, 200), crypto.sha256(match)])

# A call as one text, word for word, with what it was reached through.
_spelt(call) := "" if {
	_supplied(call)
} else := "" if {
	_fed(call)
} else := concat(" ", [_in_quotes(word) | some word in array.concat(call.wrappers, call.argv)])

# Two words are not one with a space in it.
_in_quotes(word) := concat("", ["'", replace(word, "'", `'\''`), "'"]) if {
	regex.match(`^$|[\s']`, word)
} else := word
