package bailiff_test

# A request of a session that did something before.
_after(history) := object.union(request("cli", [call("sh", [], ["./i.sh"])]), {"session_history": history})

_running(how, more) := _after({"runs": [object.union(
	{"path": "./i.sh", "made": "/workspace/i.sh", "how": how, "at": "2026-11-21T11:00:00Z", "whose": "session"},
	more,
)]})

_brought(asked) := _told_of(found).told if {
	found := data.bailiff._found_in_text with input as asked
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
