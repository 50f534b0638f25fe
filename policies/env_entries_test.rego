package bailiff_test

test_platform_narrows if {
	_misfits_by(_usual_tables.env, wanting(_git_push, ["GITLAB_TOKEN"])) == {"GITLAB_TOKEN": "env.platform"}
}

test_entry_for_code_must_name_the_tool if {
	entry := {"platforms": ["*"], "tools": ["execute_code"], "programs": ["python3"]}
	_entries_by({"CI": [entry]}, wanting(program("telegram", {}), ["CI"])) == {"CI": [entry]}
	_entries_by({"CI": [object.remove(entry, ["tools"])]}, wanting(program("telegram", {}), ["CI"])) == {"CI": []}
	data.bailiff._calls_from_python(entry) with input as program("telegram", {})
	not data.bailiff._calls_from_python(entry) with input as program("telegram", {"complete": false})
}

test_entry_narrows_by_backend if {
	entry := {"platforms": ["*"], "backends": ["bubblewrap"]}
	_misfits_by({"CI": [entry]}, wanting(_git_push, ["CI"])) == {"CI": "env.backend"}
	_entries_by({"CI": [entry]}, wanting(_git_push, ["CI"])) == {"CI": []}
	_entries_by({"CI": [entry]}, wishing(wanting(_git_push, ["CI"]), "bubblewrap")) == {"CI": [entry]}
}

test_misfit_names_the_first_part_that_does_not_fit if {
	_misfit_of({"platforms": ["cli"], "programs": ["git"]}) == "env.platform"
	_misfit_of({"platforms": ["telegram"], "tools": ["process"]}) == "env.tool"
	_misfit_of({"platforms": ["*"], "backends": ["local"]}) == "env.backend"
	_misfit_of({"platforms": ["telegram"], "programs": ["curl"]}) == "env.program"
	_entries_by({"TZ": [{"platforms": ["*"]}]}, wanting(_git_push, ["TZ"])) == {"TZ": [{"platforms": ["*"]}]}
}

_misfit_of(entry) := _misfits_by({"TZ": [entry]}, wanting(_git_push, ["TZ"])).TZ

# Why no entry fits, and which entries fit before the text is looked at.
_misfits_by(table, asked) := misfits if {
	misfits := data.bailiff._misfits with input as asked
		with data.bailiff.tables.env as table
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.house as _usual_tables.house
}

_entries_by(table, asked) := entries if {
	entries := data.bailiff._entries with input as asked
		with data.bailiff.tables.env as table
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.house as _usual_tables.house
}
