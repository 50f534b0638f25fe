package bailiff

# METADATA
# title: Rules that are observed
# description: |
#   A rule of the table observe neither asks nor denies until its last day (UTC), and the decision says
#   that it would have. It is for rules that find something in a text, and for a team's own. On platforms
#   other than cli it does not ask in a sandbox, and that is all. What another rule asks about or denies
#   is not touched, and a request into which variables would go that are for some programs or hosts is
#   judged as if nothing were observed.
_observed_rules contains rule if {
	some rule, row in data.bailiff.tables.observe
	_may_be_observed(rule)
	_lasts_until(row.until)
}

# The days of a row that is further away than the most are not yet its own: check refuses it.
_lasts_until(day) if {
	regex.match(`^\d{4}-\d\d-\d\d$`, day)
	left := _start_of(day) - _start_of(input.date)
	left >= 0
	left <= ((_most_observed_days * 24) * 3600) * 1000000000
}

_most_observed_days := 30

_start_of(day) := time.parse_rfc3339_ns(concat("", [day, "T00:00:00Z"]))

# Only an exact name counts. The families of bailiff's own rules but command and code are about
# sessions, places, variables and connections.
_may_be_observed(rule) if {
	not split(rule, ".")[0] in _unobserved_families
	not rule in _unobserved
}

_unobserved_families := {
	"advise", "agent", "approval", "approvals", "backend", "break_glass", "budget", "connection", "egress", "env", "floor", "freeze",
	"guard", "guards", "limits", "log", "mcp", "network", "policy", "request", "role", "session", "tool",
}

# What would have credentials leave or change who may come in, switch off what protects or watches, or be
# a text that does not tell what runs, in which any of these may be: what is planted for later and another
# agent run past bailiff, and in a container, or where something is mounted or another root is, a path means
# another file.
_unobserved contains rule if {
	some rule in {
		"code.calls_native",
		"code.hides_meaning",
		"command.changes_accounts",
		"command.changes_firewall",
		"command.changes_namespaces",
		"command.changes_own_settings",
		"command.destroys_system",
		"command.disables_protection",
		"command.erases_traces",
		"command.escapes_to_shell",
		"command.grants_access",
		"command.hides_meaning",
		"command.mounts",
		"command.opens_reverse_shell",
		"command.opens_to_network",
		"command.preloads_library",
		"command.reaches_metadata",
		"command.reads_credentials",
		"command.reads_memory",
		"command.redirects_connections",
		"command.runs_decoded",
		"command.runs_downloaded",
		"command.runs_inline_program",
		"command.sends_environment",
		"command.sends_files",
		"command.sends_host_facts",
		"command.starts_agent",
		"command.stops_services",
		"command.uses_container_engine",
		"command.writes_credentials",
		"command.writes_ssh",
		"command.writes_startup",
	}
}

# What no person can lift is not observed either.
_unobserved contains data.bailiff.tables.classes[class].rule if some class, _ in data.bailiff.tables.unwanted

# METADATA
# title: What is observed of a request
# description: |
#   Of the reasons to deny and to ask those of the team's own rules, and findings to which the table of
#   verdicts says so. Where a rule of the team denies or asks about what was found, for a reason of its
#   own, that is another rule, and it holds.
_observed_denials contains said if {
	_observed_rules != set()
	input.session.platform == "cli"
	some said in deny
	_is_observed(said)
	_is_plain_denial(said)
}

# A finding to which the table says less may be a denial of another rule, which passes on what was found.
_is_plain_denial(said) if {
	said in findings
	_verdict_on(said) == "deny"
	_verdict_words(said.rule) - {"allow", "allow_with_undo", "ask", "deny"} == set()
}

_is_plain_denial(said) if {
	not said in findings
	not split(said.rule, ".")[0] in {"command", "code"}
	is_string(said.message)
}

_verdict_words(rule) := {word | some word in data.bailiff.tables.verdicts[rule]}

_observed_questions contains said if {
	_observed_rules != set()
	_questions_are_observed
	some said in (require_approval | _to_undo)
	_is_observed(said)
	_is_plain_question(said)
}

# As of denials: what the table lets run is asked about by another rule.
_is_plain_question(said) if {
	said in findings
	_verdict_on(said) in {"ask", "allow_with_undo"}
}

_is_plain_question(said) if said in _supposed_findings

_is_plain_question(said) if not split(said.rule, ".")[0] in {"command", "code"}

_questions_are_observed if input.session.platform == "cli"

_questions_are_observed if {
	_isolates(_chosen)
	not input.session.unattended
}

# A row of the tables agents, jobs and roles that is stricter holds nevertheless.
_is_observed(said) if {
	said.rule in _observed_rules
	_held_words(said) - {"allow"} == set()
	every name in _env.forward {
		_is_for_any_text(name)
	}
}

# A variable that every text of its platforms gets, without a question, is no more than it would have had.
_is_for_any_text(name) if {
	entries := data.bailiff.tables.env[name]
	count(entries) > 0
	every entry in entries {
		object.keys(entry) - {"platforms", "tools"} == set()
	}
}

default _observation := {}

_observation := {"observed": sort({said.rule | some said in _seen_only}), "without_observe": _outcome_otherwise} if {
	_outcome != "deny"
	_seen_only != set()
}

_seen_only := (_observed_denials | (_observed_questions & require_approval)) | {said |
	some said in (_observed_questions & _to_undo)
	not _undoable
}

_outcome_otherwise := "deny" if {
	_observed_denials != set()
} else := "deny" if {
	input.session.unattended
} else := "ask"
