package bailiff

# METADATA
# title: Agents that another agent started, and jobs
# description: |
#   An agent that another one of its session started (session.agent) is held to the rows of the
#   table agents, too, that are for its depth or a lesser one, and a session that no person began
#   (session.job) to those of the table jobs whose name is its job's, * being any text. A row adds
#   verdicts, closes the network, keeps backends and variables away, and narrows what an approval
#   may leave. None opens anything, and none is for the own agent of a session that a person began.
_held_to := ({row | some row in _agent_rows} | {row | some row in _job_rows}) | {row | some row in _role_rows}

_agent_rows contains row if {
	input.session.agent
	some depth, row in data.bailiff.tables.agents
	_reaches_depth(depth)
}

_reaches_depth(depth) if to_number(depth) <= input.session.agent.depth

# A row of no depth is for all.
_reaches_depth(depth) if not regex.match(`^[0-9]+$`, depth)

_job_rows contains row if {
	some name, row in data.bailiff.tables.jobs
	glob.match(name, [], input.session.job)
}

# The words of the rows on a finding.
_held_words(finding) := {row.verdicts[finding.rule] | some row in _held_to}

networks contains row.network if some row in _held_to

# The platform may use the others.
_kept_away(backend) if {
	some row in _held_to
	row.backends
	not backend in {_known_as(name) | some name in row.backends}
}

withhold_env contains {"name": name, "rule": rule} if {
	some rule, rows in {"env.agent": _agent_rows, "env.job": _job_rows, "env.role": _role_rows}
	some row in rows
	row.env
	some name in _requested_names
	not name in row.env
}

# What the rows leave of what an approval may be for.
_rows_offer(scope) if {
	_may_last(scope)
	every row in _held_to {
		_offers(row, scope)
	}
}

# What lasts for a user lasts for no agent that another one started: it is gone before.
_may_last(_) if not input.session.agent

_may_last("session") if input.session.agent
