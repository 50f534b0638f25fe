package bailiff_test

_acme := {"ours": {
	"acme": {
		"classes": ["credentials", "acmes"], "traits": ["looks"],
		"harmless": ["show", "list all"], "leading_options": {"-p": "value"},
		"verbs": {"wipe": ["destroys"], "* halt": ["power"]}, "options": {"--eval": ["inline"]},
		"patterns": {"^drop-": ["destroys"]}, "installs": {"add": "names"}, "launches": ["run"],
	},
	"plain": {"grammar": {"operands": "reads"}},
	"acmectl": {"like": "acme"},
}}

test_an_entry_tells_the_classes_and_traits_of_its_program if {
	data.bailiff._kinds_of("acme") == ["credentials", "acmes"] with data.bailiff.programs as _acme
	data.bailiff._classed("acme") == {"credentials"} with data.bailiff.programs as _acme
	data.bailiff._has_trait("acme", "looks") with data.bailiff.programs as _acme
	not data.bailiff._has_trait("acme", "prints") with data.bailiff.programs as _acme
	data.bailiff._kinds_of("nothing") == [] with data.bailiff.programs as _acme
}

test_a_row_of_the_table_replaces_the_classes_of_the_entry if {
	data.bailiff._kinds_of("acme") == ["power"] with data.bailiff.programs as _acme
		with data.bailiff.tables.programs as {"acme": ["power"]}
	data.bailiff._kinds_of("acme") == [] with data.bailiff.programs as _acme with data.bailiff.tables.programs as {"acme": []}
}

test_a_row_adds_words_that_look_and_takes_them_away if {
	data.bailiff._looking_words("acme") == {"show", "list all"} with data.bailiff.programs as _acme
	data.bailiff._looking_words("acme") == {"list all", "stat"} with data.bailiff.programs as _acme
		with data.bailiff.tables.harmless as {"acme": {"stat": true, "show": false}}
	data.bailiff._leading_option("acme", "-p") == "value" with data.bailiff.programs as _acme
	data.bailiff._leading_option("acme", "-p") == "flag" with data.bailiff.programs as _acme
		with data.bailiff.tables.leading_options as {"acme": {"-p": "flag"}}
	not data.bailiff._leading_option("acme", "-q") with data.bailiff.programs as _acme
}

test_rows_tell_what_is_installed_launched_and_named_by_a_pattern if {
	data.bailiff._installs_by("acme") == {"add": "names"} with data.bailiff.programs as _acme
	data.bailiff._installs_by("acme") == {"get": "files"} with data.bailiff.programs as _acme
		with data.bailiff.tables.installing as {"acme": {"get": "files"}}
	data.bailiff._launches_by("acme") == ["run"] with data.bailiff.programs as _acme
	data.bailiff._launches_by("acme") == ["x"] with data.bailiff.programs as _acme with data.bailiff.tables.launchers as {"acme": ["x"]}
	data.bailiff._patterns("acme") == {"^drop-": ["destroys"], "^sell-": ["costs"]} with data.bailiff.programs as _acme
		with data.bailiff.tables.remote_verbs as {"acme": {"^sell-": ["costs"]}}
}

test_a_program_is_known_by_what_it_does_and_not_by_its_grammar if {
	every program in ["acme", "looker"] {
		not data.bailiff._is_unknown(program) with data.bailiff.programs as _acme with data.bailiff.tables.lookers as {"looker": true}
	}
	every program in ["plain", "acmectl", "nothing"] {
		data.bailiff._is_unknown(program) with data.bailiff.programs as _acme
	}
}

test_each_table_of_a_team_gives_its_trait if {
	data.bailiff._has_trait("x", "known") with data.bailiff.tables.known as {"x": true}
	data.bailiff._has_trait("x", "starts_shell") with data.bailiff.tables.shell_starters as {"x": true}
	data.bailiff._has_trait("x", "starts_plainly") with data.bailiff.tables.plain_starters as {"x": true}
	data.bailiff._has_trait("x", "supplies") with data.bailiff.tables.suppliers as {"x": true}
	data.bailiff._has_trait("x", "prints") with data.bailiff.tables.printers as {"x": true}
	data.bailiff._has_trait("x", "ignores_arguments") with data.bailiff.tables.ignores_arguments as {"x": true}
}

test_words_of_an_entry_are_found if {
	_by_tables([call("acme", [], ["wipe"])]).rules == {"command.destroys_data", "command.reads_credentials"}
		with data.bailiff.programs as _acme
	_by_tables([call("acmectl", [], ["web", "halt"])]).rules == {"command.destroys_system"} with data.bailiff.programs as _acme
	_by_tables([call("acmectl", ["--eval"], ["x"])]).rules == {"command.runs_inline_program"} with data.bailiff.programs as _acme
}

test_a_verb_of_the_table_is_the_tables_own if {
	_by_tables([call("acmectl", [], ["wipe"])]).rules == {"command.changes_elsewhere"} with data.bailiff.programs as _acme
		with data.bailiff.tables.actions as {"acmectl": {"wipe": ["changes_elsewhere"]}}
}

test_a_row_takes_a_trait_away if {
	not data.bailiff._has_trait("acme", "looks") with data.bailiff.programs as _acme with data.bailiff.tables.lookers as {"acme": false}
	not data.bailiff._has_trait("jq", "prints") with data.bailiff.tables.printers as {"jq": false}
	data.bailiff._has_trait("jq", "prints")
}
