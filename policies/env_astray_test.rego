package bailiff_test

test_token_stays_out_when_the_path_is_changed if {
	led := object.union(call("git", [], ["push"]), {"assigns": ["PATH"]})
	_withheld(wanting(request("telegram", [led]), ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_stays_out_where_the_environment_is_shown if {
	not _gets_token(request("telegram", [call("git", [], ["push"]), call("env", [], [])]))
	not _gets_token(request("telegram", [call("git", [], ["push"]), call("set", [], [])]))
	not _gets_token(request("telegram", [call("git", [], ["push"]), call("head", [], ["/proc/self/environ"])]))
}

test_token_stays_out_where_the_text_leads_programs_astray if {
	every name in ["PATH", "HOME", "PS4"] {
		not _gets_token(object.union(_git_push, {"command": {"assigns": [name]}}))
	}
}

test_texts_that_lead_programs_astray_get_nothing if {
	[text |
		some text, facts in _texts
		not _gets_token(object.union(_git_push, {"command": facts}))
	] == [
		"assigns a pager",
		"expands a name",
		"names a loader",
		"reads a process",
	]
	[name |
		some name in ["env", "set", "printenv", "cat"]
		_gets_token(request("telegram", [call("git", [], ["push"]), call(name, [], [])]))
	] == []
}

_texts := {
	"assigns a pager": {"assigns": ["GH_PAGER"]},
	"names a loader": {"assigns": ["LD_PRELOAD"]},
	"reads a process": {"reads": ["/proc/1/environ"]},
	"expands a name": {"text": "git push ${!X}"},
	"is ordinary": {"text": "git push"},
}
