package bailiff_test

_loses_by_method(name) := "command.forces_loss" in _program_found({"calls": [name]}).rules

test_methods_that_name_a_verb_of_loss_and_something_whole_are_found if {
	every name in ["unheard.metadata.drop_all", "unheard.delete_repository", "unheard.flushAll", "unheard.purge_all_queues"] {
		_loses_by_method(name)
	}
	every name in [
		"pandas.drop", "pandas.drop_duplicates", "unheard.reset_index", "unheard.delete_row", "drop_all", "unheard.dropped_all",
		"unheard.all",
	] {
		not _loses_by_method(name)
	}
}

test_a_database_in_memory_is_made_anew if {
	facts := {"calls": ["unheard.create_engine", "unheard.drop_all"], "strings": ["sqlite://"]}
	_program_found(facts).rules == set()
	_program_found(object.union(facts, {"calls": ["unheard.drop_all"]})).rules == {"command.forces_loss"}
	_program_found(object.union(facts, {"variables": ["DATABASE_URL"]})).rules == {"command.forces_loss"}
	_program_found(object.union(facts, {"strings": ["sqlite://", "postgresql://db/prod"]})).rules == {"command.forces_loss"}
	_program_found(object.union(facts, {"strings": ["sqlite://", "https://docs.test/"]})).rules == set()
}

test_a_verb_behind_what_it_is_about_is_found_of_services if {
	_program_found({"calls": ["dropbox.files_delete_v2"]}).rules == {"command.destroys_data"}
	_program_found({"calls": ["dropbox.can_delete_files", "dropbox.files_list_folder", "unheard.files_delete_v2"]}).rules == set()
}

test_methods_that_say_that_they_give_secrets_are_found if {
	every name in ["unheard.get_secret_value", "unheard.listSecretForAllNamespaces", "unheard.access_secret_version"] {
		_program_found({"calls": [name]}).rules == {"command.reads_credentials"}
	}
	every name in ["unheard.check_password", "unheard.make_password", "unheard.get_token", "unheard.set_secret", "get_secret"] {
		_program_found({"calls": [name]}).rules == set()
	}
}

test_what_describes_the_machine_is_found_where_it_leaves if {
	_program_found({"features": ["sends_machine"], "hosts": ["x.test"]}).rules == {"command.sends_host_facts"}
	_program_found({"features": ["sends_machine"]}).rules == {"command.sends_host_facts"}
	_program_found({"features": ["sends_machine"], "hosts": ["localhost"]}).rules == set()
	_in_shell({"features": ["sends_machine"], "hosts": ["x.test"]}).rules == {"command.sends_host_facts"}
}

test_the_encryption_of_a_folder_is_found if {
	facts := {"calls": ["os.listdir", "cryptography.encrypt", "open"]}
	_program_found(facts).rules == {"command.forces_loss"}
	_program_found({"calls": ["cryptography.encrypt", "open"]}).rules == set()
	_program_found({"calls": ["glob.glob", "pypdf.encrypt", "open"]}).rules == set()
}

test_what_looks_through_a_network_or_tries_passwords_attacks if {
	_program_found({"features": ["tries_passwords"]}).rules == {"command.attacks_host"}
	_program_found({"features": ["sweeps_hosts"]}).rules == {"command.attacks_host"}
}
