# The decision.
#
# Composes what the other files contribute into the one document that the
# enforcer obeys. A denial always wins; nothing here depends on the order of
# files or rules.
#
# Any file of package bailiff may contribute to these sets:
#
# findings            {rule, message, match, instead}: what the request does, wherever it runs
# deny                {rule, message, match, instead}: denied
# require_approval    {rule, message, match, instead, scopes, timeout_seconds, grant_seconds, quorum}
# forward_env         names
# withhold_env        {name, rule}: beats forward_env
# backend_candidates  {name, rank}: the lowest rank that is configured wins
# limits              {timeout_seconds, output_bytes, cpus, memory_mb, disk_mb, pids, idle_seconds,
#                     max_seconds, background_seconds, processes}
# networks            {network, egress}
#
# rule and message are needed, the rest may be missing; the strictest wins.

package bailiff

# METADATA
# entrypoint: true
decision := object.union(verdict, {"approval": approval}) if outcome == "ask"

decision := verdict if outcome != "ask"

verdict := {
	"outcome": outcome,
	"denials": denials,
	"backend": backend,
	"env": env,
	"limits": execution_limits,
	"tools": tools,
}

default outcome := "deny"

outcome := "ask" if {
	count(denials) == 0
	count(approval_reasons) > 0
}

outcome := "allow" if {
	count(denials) == 0
	count(approval_reasons) == 0
}

denials := [reason(denial) | some denial in deny]

# What has not the shape of a reason is passed on as it is: the enforcer then
# refuses the whole decision instead of losing a denial in silence.
reason(said) := object.union_n([remedy(said), object.filter(said, {"rule", "message", "match", "instead", "hidden"}), secrecy(said)]) if is_object(said)

reason(said) := said if not is_object(said)

# What would be allowed instead: a reason says it itself, or the table says it of its rule.
default remedy(_) := {}

remedy(said) := {"instead": data.bailiff.tables.instead[said.rule]}

default secrecy(_) := {}

secrecy(said) := {"hidden": true} if is_hidden(said)

is_hidden(said) if data.bailiff.tables.hidden_rules[said.rule]

# A verdict that is no known word denies, as does a finding without a rule.
deny contains finding if {
	some finding in findings
	not verdict_on(finding) in {"allow", "ask"}
}

# The table may be stricter or milder for a rule; without a word in it a finding
# asks on a backend without isolation and is allowed inside a sandbox.
default verdict_on(_) := "deny"

verdict_on(finding) := data.bailiff.tables.verdicts[finding.rule][place]

verdict_on(finding) := default_verdict[place] if {
	is_string(finding.rule)
	not data.bailiff.tables.verdicts[finding.rule][place]
}

default_verdict := {"host": "ask", "sandbox": "allow"}

deny contains {
	"rule": "session.unknown_platform",
	"message": sprintf("The platform %q is not in the table of platforms, where a name counts with its capitals.", [input.session.platform]),
	"match": input.session.platform,
} if {
	not data.bailiff.tables.platforms[input.session.platform]
}
