package bailiff

# METADATA
# title: What an earlier request of the session brought
# description: |
#   A file that the session fetched from the network, decoded or compiled of such, and that this request runs. It is known by its
#   content, so that a copy or another name changes nothing; where that could not be looked at, by its path. Of what other sessions
#   of the same user brought today the content counts alone. A grant is for the content; without one it is for once.
_found_in_text contains _found("brought", _content_of(run)) if {
	some run in input.session_history.runs
}

default _content_of(_) := ""

_content_of(run) := sprintf("%s (sha256 %s)", [run.path, run.sha256])

# METADATA
# title: A session that was denied again and again
# description: |
#   Who tries until something passes is asked about everything from then on. Denials in a row end with a request that runs.
#   In an unattended session each request is judged by itself: to stop such a session is a freeze. Of the user's sessions of today
#   together more denials count, so that no agent begins a session after each.
_found_in_session contains _found("denied_often", "") if {
	not input.session.unattended
	some kind, most in data.bailiff.tables.session_history.denials
	input.session_history.denials[kind] >= most
}

_found_in_session contains _found("denied_often", "") if {
	not input.session.unattended
	some kind, most in data.bailiff.tables.session_history.user_denials
	input.session_history.user_denials[kind] >= most
}

# METADATA
# title: Many new hosts within a minute
# description: |
#   A session that names one host after another for the first time searches a network, or takes something out in parts.
_found_in_session contains _found("new_hosts", "") if {
	count(_hosts) > 0
	input.session_history.new_hosts.minute >= data.bailiff.tables.session_history.new_hosts_in_a_minute
}

# METADATA
# title: Credentials that the session read, and a way out
# description: |
#   What a request reads of credentials is kept in the history, also where the request is not asked about. From then on people are asked
#   about each text that names a host, but for this machine, and about each push.
_found_in_session contains _found("way_out", host) if {
	count(input.session_history.credentials_read) > 0
	some host in _hosts
	not regex.match(`^(127\.[0-9.]+|localhost|.*\.localhost|::1)$`, host)
}

# A push names no host where the repository knows its remote.
_found_in_session contains _found("way_out", "git push") if {
	count(input.session_history.credentials_read) > 0
	some call in _calls_of.versions
	call.operands[0] == "push"
}

default _reading := {}

_reading := {"credentials_read": _credentials_read} if {
	findings != set()
	count(_credentials_read) > 0
}

_credentials_read := sort({told |
	some finding in findings
	data.bailiff.tables.session_history.credentials[finding.rule]
	told := _match_or_rule(finding)
})

_match_or_rule(finding) := finding.match if {
	finding.match != ""
} else := finding.rule
