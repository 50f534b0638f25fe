# The decision.
#
# Composes what the other files contribute into the one document that the
# enforcer obeys. A denial always wins; nothing here depends on the order of
# files or rules.
#
# Any file of package bailiff may contribute to these sets:
#
# findings            {rule, message, match, instead, severity, attack}: what the request does,
#                     wherever it runs
# deny                {rule, message, match, instead, severity, attack}: denied
# require_approval    {rule, message, match, instead, severity, attack, scopes, timeout_seconds,
#                     grant_seconds, quorum}: asked about
# forward_env         names
# withhold_env        {name, rule}: beats forward_env
# backend_candidates  {name, rank}: the lowest rank that is configured wins
# advise              {rule, message}: a sentence for the model, beside what a request prints
# limits              {timeout_seconds, output_bytes, cpus, memory_mb, disk_mb, pids, idle_seconds,
#                     max_seconds, background_seconds, processes, workspace_mb, workspace_files}
# networks            {network, egress}
# deny_connection     {rule, message, match, instead, hidden}: see connection.rego
# ask_connection      {rule, message, match, instead, hidden, scopes, timeout_seconds, grant_seconds,
#                     quorum}
# connection_limits   {upload_mb, download_mb}: the least counts
#
# rule and message are needed, the rest may be missing; the strictest wins, but for advise, of which all count.

package bailiff

# METADATA
# title: The decision
# description: |
#   The document that the enforcer obeys.
# entrypoint: true
decision := object.union({"outcome": "allow", "denials": []}, _terms) if {
	_nothing_said
} else := object.union_n([_verdict, {"approval": _approval}, _notes]) if {
	_outcome == "ask"
} else := object.union_n([_verdict, _snapshot, _notes]) if {
	_outcome == "allow"
} else := object.union(_verdict, _snapshot) if _outcome == "deny"

# Of most requests nothing is found, and nothing is to be told.
_nothing_said if {
	_denials == []
	deny == set()
	findings == set()
	require_approval == set()
	advise == set()
	_budgets_held == set()
}

_verdict := object.union({"outcome": _outcome, "denials": _denials}, _terms)

# Under what terms a request may run.
_terms := {
	"backend": _backend,
	"env": _env,
	"limits": _execution_limits,
	"tools": _tools,
}

_outcome := "allow" if {
	_denials == []
	_approval_reasons == []
} else := "ask" if {
	_denials == []
	count(_approval_reasons) > 0
} else := "deny"

# METADATA
# title: Platforms
# description: |
#   Denies a request of a platform that no table lists.
_faults contains {
	"rule": "session.unknown_platform",
	"message": sprintf(
		"The platform %q is not in the table of platforms, where a name counts with its capitals.",
		[input.session.platform],
	),
	"match": input.session.platform,
} if {
	not data.bailiff.tables.platforms[input.session.platform]
}
