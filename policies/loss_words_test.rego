package bailiff_test

_loses_by(calls) := "command.forces_loss" in _told_of(found).rules if {
	found := {finding |
		"loss_words" in data.bailiff._aspects
		some finding in data.bailiff._examined.loss_words
	} with input as request("cli", calls)
}

test_options_tell_of_loss_by_their_parts if {
	every option in [
		"--accept-data-loss", "--force-reset", "--no-preserve-root", "--allow-destructive", "--purge", "--skip-verification",
		"--ignoreDataLoss", "--allow_data_loss=true", "--disable-deletion-protection",
	] {
		_loses_by([call("unheard-of", [option], ["apply"])])
	}
	every option in [
		"--no-purge", "--prevent-destroy", "--no-preserve=mode", "--force", "--force-reinstall", "--skip-tests", "--delete",
		"--no-verify", "--reset-cache", "--database",
	] {
		not _loses_by([call("unheard-of", [option], ["apply"])])
	}
}

test_long_words_behind_one_dash_tell_of_loss if {
	every option in ["-purge", "-forceDelete", "-skip-verification", "-kill", "--terminate", "-acceptDataLoss=true"] {
		_loses_by([call("unheard-of", [option], ["apply"])])
	}
	every option in ["-killed", "-kill-others", "-k", "-delete", "-no-purge", "-Purge", "--kill-after"] {
		not _loses_by([call("unheard-of", [option], ["apply"])])
	}
}

test_a_value_takes_away_what_guards if {
	every options in [["--deletion-protection=false"], ["--deletionProtection", "off"], ["-safemode", "leave"]] {
		_loses_by([call("unheard-of", options, ["a"])])
	}
	every options in [["--deletion-protection=true"], ["--deletion-protection"], ["-safemode", "get"], ["--colour=false"]] {
		not _loses_by([call("unheard-of", options, ["a"])])
	}
}

test_operands_tell_of_loss_of_what_is_kept if {
	every operands in [["db:drop"], ["migrate", "reset"], ["run", "db-reset"], ["artisan", "migrate:fresh"], ["reset_db"]] {
		_loses_by([call("unheard-of", [], operands)])
	}
	every operands in [["db:migrate"], ["migrate", "up"], ["reset"], ["scripts/db-reset.sh"], ["db", "status", "reset"]] {
		not _loses_by([call("unheard-of", [], operands)])
	}
	not _loses_by([call("git", [], ["checkout", "db-reset"])])
	not _loses_by([object.union(call("unheard-of", [], ["db-reset"]), {"writes": ["/home/ana/db-reset"]})])
	not _loses_by([object.union(call("unheard-of", [], ["db-reset"]), {"reads": ["db-reset"]})])
	not _loses_by([object.union(call("unheard-of", [], ["db-reset"]), {"writes": ["db-reset"]})])
}

test_force_beside_a_word_that_changes_what_is_kept if {
	_loses_by([call("unheard-of", ["--force"], ["db:push"])])
	not _loses_by([call("unheard-of", ["--force"], ["db:pull"])])
	not _loses_by([call("git", ["--force"], ["push"])])
}

test_words_behind_a_look_tell_of_no_loss if {
	not _loses_by([call("unheard-of", ["--purge", "--dry-run"], ["apply"])])
	not _loses_by([call("touch", ["--purge"], ["a"])])
	not _loses_by([call("echo", ["--purge"], ["db:drop"])])
	not _loses_by([call("unheard-of", ["--", "--purge"], ["apply"])])
	not _loses_by([object.union(call("unheard-of", ["--help"], ["db", "drop"]), {"argv": ["unheard-of", "db", "drop", "--help"]})])
}
