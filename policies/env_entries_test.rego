package bailiff_test

test_platform_narrows if {
	_withheld(wanting(_git_push, ["GITLAB_TOKEN"])) == {"GITLAB_TOKEN": "env.platform"}
}

test_entry_for_code_must_name_the_tool if {
	entry := {"CI": [{"platforms": ["*"], "tools": ["execute_code"], "programs": ["python3"]}]}
	answer := by({"env": entry}, wanting(program("telegram", {}), ["CI"]))
	answer.env.forward == ["CI"]
	hidden := by({"env": entry}, wanting(program("telegram", {"complete": false}), ["CI"]))
	hidden.env.forward == []
}

test_entry_narrows_by_backend if {
	entry := {"CI": [{"platforms": ["*"], "backends": ["bubblewrap"]}]}
	answer := by({"env": entry}, wanting(_git_push, ["CI"]))
	answer.env.withheld == [{"name": "CI", "rule": "env.backend"}]
}

test_misfit_names_the_first_part_that_does_not_fit if {
	_misfit_of({"platforms": ["cli"], "programs": ["git"]}) == [{"name": "TZ", "rule": "env.platform"}]
	_misfit_of({"platforms": ["telegram"], "tools": ["process"]}) == [{"name": "TZ", "rule": "env.tool"}]
	_misfit_of({"platforms": ["*"], "backends": ["local"]}) == [{"name": "TZ", "rule": "env.backend"}]
	_misfit_of({"platforms": ["telegram"], "programs": ["curl"]}) == [{"name": "TZ", "rule": "env.program"}]
	_misfit_of({"platforms": ["telegram"], "programs": ["git"]}) == []
	_misfit_of({"platforms": ["*"]}) == []
}

_misfit_of(entry) := answer.env.withheld if answer := by({"env": {"TZ": [entry]}}, wanting(_git_push, ["TZ"]))
