package bailiff_test

test_words_of_a_pack_are_found if {
	_packed_as(["compute", "delete", "x"]) == {"command.destroys_data"}
	_packed_as(["compute", "create"]) == {"command.costs_money", "command.grants_access"}
	_packed_as(["compute", "list", "delete"]) == set()
	_packed_as(["delete"]) == {"command.may_change_elsewhere"}
	_packed_as([]) == set()
}

test_words_behind_an_option_are_found if {
	behind := object.union(call("acme", ["-p"], ["prod", "compute", "delete"]), {"argv": ["acme", "-p", "prod", "compute", "delete"]})
	_by_tables([behind]).rules == {"command.destroys_data"} with data.bailiff.packs as _packs
	without := object.union(behind, {"argv": ["acme", "prod", "compute", "delete", "-p"]})
	_by_tables([without]).rules == {"command.may_change_elsewhere"} with data.bailiff.packs as _packs
}

test_words_behind_several_options_are_found if {
	argv := ["acme", "-p", "prod", "-u", "ana", "compute", "delete"]
	behind := object.union(call("acme", ["-p", "-u"], ["prod", "ana", "compute", "delete"]), {"argv": argv})
	_by_tables([behind]).rules == {"command.destroys_data"} with data.bailiff.packs as _packs
}

test_a_program_installed_as_a_script_is_described_as_the_program if {
	_by_tables([call("acmectl.sh", [], ["compute", "delete"])]).rules == {"command.destroys_data"} with data.bailiff.packs as _packs
	_by_tables([call("acmectl.txt", [], ["compute", "delete"])]).rules == {"command.may_change_elsewhere"} with data.bailiff.packs as _packs
}

test_options_of_a_pack_are_found if {
	_by_tables([call("acme", ["--public"], ["list"])]).rules == {"command.publishes"} with data.bailiff.packs as _packs
	_by_tables([call("acme", ["--private"], ["list"])]).rules == set() with data.bailiff.packs as _packs
}

test_families_of_words_are_found if {
	_packed_as(["purge-rows", "x"]) == {"command.destroys_data"}
	_packed_as(["list", "purge-rows"]) == set()
	_by_tables([call("acme", ["-setport"], ["net"])]).rules == {"command.changes_elsewhere"} with data.bailiff.packs as _packs
}

test_a_program_is_like_another if {
	_by_tables([call("acmectl", [], ["compute", "delete"])]).rules == {"command.destroys_data"} with data.bailiff.packs as _packs
}

test_trying_and_help_do_nothing_by_a_pack if {
	_by_tables([call("acme", ["--dry-run"], ["compute", "delete"])]).rules == set() with data.bailiff.packs as _packs
	behind := {"argv": ["acme", "compute", "--help"]}
	_by_tables([object.union(call("acme", ["--help"], ["compute"]), behind)]).rules == set() with data.bailiff.packs as _packs
}

test_every_effect_is_a_class if {
	every _, class in data.bailiff.tables.effects {
		data.bailiff.tables.classes[class]
	}
}

test_without_packs_nothing_is_found if {
	_by_tables([call("acme", [], ["compute", "create"])]).rules == set() with data.bailiff.packs as {}
}

_packed_as(words) := found if {
	found := _by_tables([call("acme", [], words)]).rules with data.bailiff.packs as _packs
}

_packs := {"ours": {"programs": {
	"acme": {
		"source": "https://acme.test/manual",
		"verbs": {"compute delete": ["destroys"], "compute create": ["costs", "grants_access"]},
		"options": {"--public": ["publishes"]},
		"families": {"purge-*": ["destroys"], "-set*": ["changes"]},
	},
	"acmectl": {"source": "known", "like": "acme"},
}}}

test_a_trial_excuses_no_text_and_nothing_elsewhere if {
	every words in [
		["adb", "shell", "rm", "--dry-run"], ["wp", "eval", "x", "--dry-run"], ["gh", "auth", "token", "--dry-run"],
		["zkCli.sh", "deleteall", "/kafka", "--dry-run"], ["brew", "autoremove", "--log", "--dry-run"],
		["gh", "pr", "merge", "5", "--admin", "--body", "--version"],
	] {
		count(_by_tables([_spoken(words)]).rules) > 0
	}
	_by_tables([_spoken(["brew", "autoremove", "--dry-run"])]).rules == set()
}

test_help_explains_where_it_is_known_to if {
	options := {"ours": {"programs": {"acme": {"options": {"--public": ["publishes"]}}}}}
	_by_tables([_spoken(["acme", "help", "--public"])]).rules == {"command.publishes"} with data.bailiff.packs as options
	_by_tables([_spoken(["systemctl", "help", "stop"])]).rules == set()
}
