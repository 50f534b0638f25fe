package bailiff_test

test_token_stays_out_when_the_path_is_changed if {
	led := object.union(call("git", [], ["push"]), {"assigns": ["PATH"]})
	_leads_astray(request("telegram", [led]))
	not _leads_astray(_git_push)
}

test_token_stays_out_where_the_environment_is_shown if {
	_leads_astray(request("telegram", [call("git", [], ["push"]), call("env", [], [])]))
	_leads_astray(request("telegram", [call("git", [], ["push"]), call("set", [], [])]))
	_leads_astray(request("telegram", [call("git", [], ["push"]), call("head", [], ["/proc/self/environ"])]))
}

test_token_stays_out_where_the_text_leads_programs_astray if {
	every name in ["PATH", "HOME", "PS4"] {
		_leads_astray(object.union(_git_push, {"command": {"assigns": [name]}}))
	}
	every facts in [{"assigns": ["PATH"]}, {"settings": ["PATH=/tmp/x:$PATH"]}] {
		led := object.union(_git_push, {"command": facts})
		_env_of(wanting(led, ["GITHUB_TOKEN"])).withheld == [{"name": "GITHUB_TOKEN", "rule": "env.program"}]
	}
}

test_texts_that_lead_programs_astray_get_nothing if {
	[text |
		some text, facts in _texts
		_leads_astray(object.union(_git_push, {"command": facts}))
	] == [
		"assigns a pager",
		"expands a name",
		"names a loader",
		"reads a process",
	]
	[name |
		some name in ["env", "set", "printenv", "cat"]
		not _leads_astray(request("telegram", [call("git", [], ["push"]), call(name, [], [])]))
	] == ["cat"]
	[words |
		some words in [["A=1"], ["A=1", "make"], ["make"]]
		_leads_astray(request("telegram", [call("env", [], words)]))
	] == [["A=1"]]
}

_leads_astray(asked) if data.bailiff._astray with input as asked

_texts := {
	"assigns a pager": {"assigns": ["GH_PAGER"]},
	"names a loader": {"assigns": ["LD_PRELOAD"]},
	"reads a process": {"reads": ["/proc/1/environ"]},
	"expands a name": {"text": "git push ${!X}"},
	"is ordinary": {"text": "git push"},
}
