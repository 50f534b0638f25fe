package bailiff_test

# A request of a session that did something before.
_after(history) := object.union(request("cli", [call("sh", [], ["./i.sh"])]), {"session_history": history})

_running(how, more) := _after({"runs": [object.union(
	{"path": "./i.sh", "made": "/workspace/i.sh", "how": how, "at": "2026-11-21T11:00:00Z", "whose": "session"},
	more,
)]})

_brought(asked) := _told_of(found).told if {
	found := data.bailiff._found_in_text | data.bailiff._found_in_session with input as asked
}

test_what_the_session_brought_is_found_when_it_runs if {
	_brought(_running("downloaded", {"sha256": "ab12"})) == {"session.runs_brought: ./i.sh (sha256 ab12)"}
	_brought(_running("downloaded", {})) == {"session.runs_brought: "}
	_brought(_running("decoded", {})) == {"session.runs_brought: "}
	_brought(_running("compiled", {})) == {"session.runs_brought: "}
}

test_what_the_session_did_not_bring_is_not_found if {
	_brought(_after({"runs": [], "files": [{"path": "/workspace/i.sh", "how": "downloaded"}]})) == set()
	_brought(request("cli", [call("sh", [], ["./i.sh"])])) == set()
}

test_after_many_denials_everything_is_found if {
	_brought(_after({"denials": {"in_a_row": 3, "total": 3}})) == {"session.denied_often: "}
	_brought(_after({"denials": {"in_a_row": 0, "total": 20}})) == {"session.denied_often: "}
	_brought(_after({"denials": {"in_a_row": 2, "total": 19}})) == set()
	_brought(_after({"user_denials": {"in_a_row": 6, "total": 6}})) == {"session.denied_often: "}
	_brought(_after({"denials": {"in_a_row": 2, "total": 2}, "user_denials": {"in_a_row": 5, "total": 59}})) == set()
	_brought(object.union(_after({"denials": {"in_a_row": 3, "total": 3}}), {"session": {"unattended": true}})) == set()
}

_reaching_after(new) := object.union(
	_text_with([call("curl", [], ["https://x.test"])], {"hosts": ["x.test"]}),
	{"session_history": {"new_hosts": {"minute": new, "hour": 100, "day": 100}}},
)

test_a_burst_of_new_hosts_is_found_where_a_host_is_named if {
	_brought(_reaching_after(20)) == {"session.reaches_many_hosts: "}
	_brought(_reaching_after(19)) == set()
	_brought(_after({"new_hosts": {"minute": 20, "hour": 20, "day": 20}})) == set()
}

_reaching_with(host, read) := object.union(
	_text_with([call("curl", [], [concat("", ["https://", host])])], {"hosts": [host]}),
	{"session_history": {"credentials_read": read}},
)

test_a_way_out_is_found_after_credentials_were_read if {
	_brought(_reaching_with("x.test", ["~/.aws/credentials"])) == {"session.reaches_host_with_credentials: x.test"}
	_brought(_reaching_with("x.test", [])) == set()
	_brought(_reaching_with("localhost", ["~/.aws/credentials"])) == set()
	_brought(_after({"credentials_read": ["~/.aws/credentials"]})) == set()
}

_pushing_with(verb, read) := object.union(
	_text_with([call("git", [], [verb, "origin"])], {}),
	{"session_history": {"credentials_read": read}},
)

test_a_push_is_a_way_out_that_names_no_host if {
	_brought(_pushing_with("push", ["~/.aws/credentials"])) == {"session.reaches_host_with_credentials: git push"}
	_brought(_pushing_with("push", [])) == set()
	_brought(_pushing_with("log", ["~/.aws/credentials"])) == set()
}

test_what_is_read_of_credentials_is_told_for_the_history if {
	read := data.bailiff._reading with input as request("cli", [reading("cat", "~/.aws/credentials")])
	read == {"credentials_read": ["~/.aws/credentials"]}
	none := data.bailiff._reading with input as request("cli", [reading("cat", "README.md")])
	none == {}
}
