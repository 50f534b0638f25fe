package bailiff

# METADATA
# title: Reasons
# description: |
#   A reason of the decision has the rule, the message and the part that was found. What
#   has not the shape of a reason is passed on as it is: the enforcer then refuses the
#   whole decision instead of losing a denial in silence.
_denials := [] if {
	deny - _observed_denials == set()
} else := _in_order(deny - _observed_denials)

# The order of reasons is that of what they say: a grade changes none of it.
_in_order(reasons) := [_reason(said) | some [_, said] in {[_ungraded(said), said] | some said in reasons}]

_ungraded(said) := object.remove(said, ["severity", "attack"]) if is_object(said)

_ungraded(said) := said if not is_object(said)

_reason(said) := object.union_n([_remedy(said), object.filter(said, _parts), _secrecy(said)]) if is_object(said)

_reason(said) := said if not is_object(said)

_parts := {"rule", "message", "match", "instead", "severity", "attack", "hidden"}

# What would be allowed instead: a reason says it itself, or the table says it of its rule.
default _remedy(_) := {}

_remedy(said) := {"instead": data.bailiff.tables.instead[said.rule]}

default _secrecy(_) := {}

_secrecy(said) := {"hidden": true} if _is_hidden(said)

_is_hidden(said) if data.bailiff.tables.hidden_rules[said.rule]

# METADATA
# title: What follows from a finding
# description: |
#   The table of verdicts may be stricter or milder for a rule. Without an entry a
#   finding asks on a backend without isolation and is allowed inside a sandbox. Of a
#   sandbox that is networked or shared, the strictest of its words counts; an entry that
#   lacks one of these two takes the strictest word that it has. A verdict that is no known
#   word denies, as does a finding without a rule.
deny contains finding if {
	some finding in findings
	not _verdict_on(finding) in {"allow", "allow_with_undo", "ask"}
}

_verdict_on(finding) := _strictest({_verdict_in(place, finding) | some place in _places} | _held_words(finding))

default _verdict_in(_, _) := "deny"

_verdict_in(place, finding) := word if {
	word := data.bailiff.tables.verdicts[finding.rule][place]
} else := _strictest({word | some word in data.bailiff.tables.verdicts[finding.rule]}) if {
	place in {"networked", "shared"}
	count(data.bailiff.tables.verdicts[finding.rule]) > 0
} else := _default_verdict[place] if is_string(finding.rule)

_default_verdict := {"host": "ask", "sandbox": "allow", "networked": "allow", "shared": "allow"}

default _strictest(_) := "deny"

_strictest(words) := "allow" if words == {"allow"}

_strictest(words) := "allow_with_undo" if {
	"allow_with_undo" in words
	count(words - {"allow", "allow_with_undo"}) == 0
}

_strictest(words) := "ask" if {
	"ask" in words
	count(words - {"allow", "allow_with_undo", "ask"}) == 0
}
