package agent.call

# METADATA
# title: Why a kit is refused
# description: |
#   The findings, the rules that made them, and what would be allowed instead, each
#   once.
_sentences(reasons) := concat(" ", array.concat(sort({_sentence(reason) | some reason in reasons}), _offers(reasons)))

_sentence(reason) := "The policies do not say why." if reason.hidden

_sentence(reason) := sprintf("%s (%s).", [trim_suffix(reason.message, "."), reason.rule]) if not reason.hidden

_offers(reasons) := array.concat(["Instead:"], sort(offered)) if {
	offered := {reason.instead | some reason in reasons; reason.instead != ""; not reason.hidden}
	count(offered) > 0
} else := []
