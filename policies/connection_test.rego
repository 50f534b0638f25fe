package bailiff_test

import data.bailiff

_to(host, port) := {
	"tool": "connection",
	"caller": {"name": "test"},
	"session": {"id": "s", "platform": "slack", "unattended": false},
	"backend": {"name": "docker"},
	"time": "2026-11-21T12:00:00Z",
	"request": {"decision_id": "d", "tool": "terminal", "egress": ["all"]},
	"connection": {
		"protocol": "https", "via": "connect", "host": host, "domain": "", "port": port,
		"is_address": false, "intercepted": true, "method": "", "path": "",
	},
}

_asks(host, method, path) := json.patch(_to(host, 443), [
	{"op": "replace", "path": "/connection/method", "value": method},
	{"op": "replace", "path": "/connection/path", "value": path},
])

_hosts := {
	"allowed.test": [{}],
	"*.wild.test": [{"methods": ["GET"]}],
	"github.com": [{"methods": ["GET", "HEAD"]}, {"methods": ["POST"], "paths": ["/*/*/git-upload-pack"]}],
	"db.corp": [{"ports": [5432], "protocol": "tcp", "private": true}],
	"pinned.test": [{"intercept": false}],
	"socket.test": [{"paths": ["/live"], "websocket": true}, {"paths": ["/else"]}],
	"1.2.3.4": [{}],
	"10.1.0.0/16": [{"private": true}],
	"2001:db8::/32": [{}],
	"bounded.test": [
		{"upload_mb": 1, "download_mb": 100},
		{"paths": ["/more"], "upload_mb": 5, "download_mb": 50},
		{"paths": ["/open"], "upload_mb": 2},
	],
}

_group := [
	"allowed.test", "*.wild.test", "github.com", "db.corp", "pinned.test",
	"socket.test", "1.2.3.4", "10.1.0.0/16", "2001:db8::/32", "bounded.test",
]

_answer(asked) := answer if {
	answer := bailiff.connection with input as asked
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.network.ask_new_hosts as {}
		with data.bailiff.tables.destinations as _hosts
		with data.bailiff.tables.destination_groups as {"all": _group}
}

_said_rules(asked) := {denial.rule | some denial in _answer(asked).denials}

test_a_row_lets_its_host_be_reached if {
	_answer(_to("allowed.test", 443)) == {
		"outcome": "allow", "denials": [], "private": false, "intercept": true, "websocket": false,
	}
}

test_look_alikes_are_in_no_row if {
	every host in ["evilallowed.test", "allowed.test.evil.test", "a.allowed.test", "test", "wild.test", "evilwild.test"] {
		_said_rules(_to(host, 443)) == {"egress.not_in_table"}
	}
}

test_a_wildcard_holds_below_its_domain if {
	every host in ["a.wild.test", "a.b.wild.test"] {
		_answer(_to(host, 443)).outcome == "allow"
	}
}

test_other_ports_are_in_no_row if _said_rules(_to("allowed.test", 8443)) == {"egress.not_in_table"}

test_clone_but_no_push if {
	_answer(_asks("github.com", "GET", "/acme/app/info/refs")).outcome == "allow"
	_answer(_asks("github.com", "POST", "/acme/app/git-upload-pack")).outcome == "allow"
	_said_rules(_asks("github.com", "POST", "/acme/app/git-receive-pack")) == {"egress.not_this_request"}
	_said_rules(_asks("github.com", "POST", "/a/b/c/git-upload-pack")) == {"egress.not_this_request"}
}

test_a_tunnel_that_nobody_judges_fits_no_narrow_row if {
	asked := json.patch(_to("github.com", 443), [{"op": "replace", "path": "/connection/intercepted", "value": false}])
	_said_rules(asked) == {"egress.not_judged"}
	wide := json.patch(_to("allowed.test", 443), [{"op": "replace", "path": "/connection/intercepted", "value": false}])
	_answer(wide).outcome == "allow"
}

test_an_address_needs_a_row_of_its_own if {
	as_address := [{"op": "replace", "path": "/connection/is_address", "value": true}]
	_answer(json.patch(_to("1.2.3.4", 443), as_address)).outcome == "allow"
	_said_rules(json.patch(_to("1.2.3.5", 443), as_address)) == {"egress.address"}
}

test_a_database_by_tcp_on_a_private_address if {
	asked := json.patch(_to("db.corp", 5432), [{"op": "replace", "path": "/connection/protocol", "value": "tcp"}])
	_answer(asked) == {"outcome": "allow", "denials": [], "private": true, "intercept": false, "websocket": false}
	_said_rules(_to("db.corp", 5432)) == {"egress.not_in_table"}
}

test_a_request_becomes_a_websocket_where_its_row_says_so if {
	_answer(_asks("socket.test", "GET", "/live")).websocket
	_answer(_asks("socket.test", "GET", "/else")).websocket == false
	_answer(_asks("allowed.test", "GET", "/live")).websocket == false
}

test_a_row_may_leave_tls_closed if _answer(_to("pinned.test", 443)).intercept == false

test_plain_http_is_for_port_80 if {
	plain := [{"op": "replace", "path": "/connection/protocol", "value": "http"}]
	_answer(json.patch(_to("allowed.test", 80), plain)).outcome == "allow"
	_said_rules(json.patch(_to("allowed.test", 443), plain)) == {"egress.not_in_table"}
}

test_a_request_reaches_what_it_may_at_most if {
	_answer(_within(["allowed.test"])).outcome == "allow"
	_answer(_within(["allowed.test:443"])).outcome == "allow"
	every egress in [[], ["github.com"], ["allowed.test:80"]] {
		_said_rules(_within(egress)) == {"egress.not_in_table"}
	}
}

_within(egress) := json.patch(_to("allowed.test", 443), [{"op": "replace", "path": "/request/egress", "value": egress}])

test_a_question_is_asked_unless_something_denies if {
	asked := bailiff.connection with input as _to("allowed.test", 443)
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.destinations as _hosts
		with data.bailiff.tables.destination_groups as {"all": _group}
		with data.bailiff.tables.approval as _usual_tables.approval
		with data.bailiff.ask_connection as {{"rule": "team.ask", "message": "Really."}}
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.house as _usual_tables.house
	asked.outcome == "ask"
	asked.approval == {
		"reasons": [{"rule": "team.ask", "message": "Really."}],
		"scopes": ["once", "session"], "timeout_seconds": 300, "grant_seconds": 3600, "quorum": 1,
	}
}

test_every_shipped_group_names_hosts_of_the_table if {
	every hosts in data.bailiff.tables.destination_groups {
		every host in hosts {
			data.bailiff.tables.destinations[host]
		}
	}
}

test_a_new_host_is_asked_about_where_the_table_says_so if {
	network := {"platforms": {}, "ask_new_hosts": {"slack": true}}
	asked := bailiff.connection with input as _to("new.test", 443) with data.bailiff.tables.network as network
	asked.outcome == "ask"
	{reason.rule | some reason in asked.approval.reasons} == {"egress.new_host"}
}

_approving(rule, match) := answer.outcome if {
	approved := [{"rule": rule, "match": match}]
	asked := json.patch(_to("new.test", 443), [{"op": "add", "path": "/request/approved", "value": approved}])
	answer := bailiff.connection with input as asked
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.network as {"platforms": {}, "ask_new_hosts": {"slack": true}}
}

test_a_host_that_was_approved_before_the_run_is_not_asked_about_again if {
	_approving("command.reaches_new_host", "new.test") == "allow"
	_approving("command.reaches_new_host", "a.new.test") == "ask"
	_approving("command.sends_files", "new.test") == "ask"
}

test_a_question_has_the_terms_of_its_reasons if {
	asked := bailiff.connection with input as _to("allowed.test", 443)
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.destinations as _hosts
		with data.bailiff.tables.destination_groups as {"all": _group}
		with data.bailiff.tables.approval as _usual_tables.approval
		with data.bailiff.ask_connection as {{"rule": "team.ask", "message": "Really.", "quorum": 2, "scopes": ["once"]}}
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.house as _usual_tables.house
	asked.approval.quorum == 2
	asked.approval.scopes == ["once"]
}

test_nobody_is_asked_in_an_unattended_session if {
	network := {"platforms": {}, "ask_new_hosts": {"slack": true}}
	unattended := json.patch(_to("new.test", 443), [{"op": "replace", "path": "/session/unattended", "value": true}])
	asked := bailiff.connection with input as unattended with data.bailiff.tables.network as network
	asked.outcome == "deny"
	{denial.rule | some denial in asked.denials} == {"approval.unattended"}
}

_as_address(host) := json.patch(_to(host, 443), [{"op": "replace", "path": "/connection/is_address", "value": true}])

test_a_range_is_for_the_addresses_in_it if {
	inside := _answer(_as_address("10.1.255.7"))
	inside.outcome == "allow"
	inside.private
	not _answer(_as_address("1.2.3.4")).private
	_answer(_as_address("2001:db8::7")).outcome == "allow"
	every host in ["10.2.0.1", "2001:db9::1"] {
		_said_rules(_as_address(host)) == {"egress.address"}
	}
	_said_rules(_to("10.1.0.1.test", 443)) == {"egress.not_in_table"}
}

test_a_range_is_reached_where_the_request_may_reach_it if {
	asked := json.patch(_as_address("10.1.0.1"), [{"op": "replace", "path": "/request/egress", "value": ["10.0.0.0/8"]}])
	_said_rules(asked) == {"egress.address"}
}

test_rows_bound_what_passes if {
	_answer(_asks("bounded.test", "GET", "/")).limits == {"upload_mb": 1, "download_mb": 100}
	_answer(_asks("bounded.test", "GET", "/more")).limits == {"upload_mb": 5, "download_mb": 100}
	_answer(_asks("bounded.test", "GET", "/open")).limits == {"upload_mb": 2}
	not _answer(_asks("allowed.test", "GET", "/")).limits
}

test_the_least_that_is_contributed_counts if {
	answer := _answer(_asks("bounded.test", "GET", "/")) with bailiff.connection_limits as {{"upload_mb": 3}, {"upload_mb": 2}}
	answer.limits == {"upload_mb": 2}
}
