package bailiff

# METADATA
# title: Programs that small languages start
# description: |
#   Scripts of awk and sed, and commands of editors and pagers, name programs that no
#   option shows. The flag "e" of a substitution runs what it made.
_examined.seds contains _found("inline", _spelt(call)) if {
	some call in _calls_of.seds
	some word in call.argv
	regex.match(`^s[^\w\s].*[^\w\s][gpIiMm0-9]*e[gpIiMm0-9]*$`, word)
}

_examined.editors contains _found("inline", _spelt(call)) if {
	some call in _calls_of.editors
	some word in call.argv
	regex.match(`^(\+:?|:)?\s*!|^(\+:?|:)\s*(py|lua|perl|ruby|tcl|call system)`, word)
}

_examined.awks contains _found("inline", _spelt(call)) if {
	some call in _calls_of.awks
	some word in call.argv
	regex.match(`\(\s*"[^"]*"\s*\)\s*\|&?\s*getline`, word)
}

# The pager's own commands are given after "+".
_examined.pagers contains _found("inline", _spelt(call)) if {
	some call in _calls_of.pagers
	some word in call.argv
	regex.match(`^\+{1,2}\s*[!|]`, word)
}
