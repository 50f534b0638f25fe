package bailiff_test

_shows_by(calls) := "command.reads_credentials" in _told_of(found).rules if {
	found := {finding |
		"secret_words" in data.bailiff._aspects
		some finding in data.bailiff._examined.secret_words
	} with input as request("cli", calls)
}

test_options_show_secrets_by_their_parts if {
	every option in [
		"--show-token", "--with-secrets", "--unmask", "--showPassword", "--print_api_key=true", "--no-mask", "--reveal",
		"--include-credentials",
	] {
		_shows_by([call("unheard-of", [option], ["config", "list"])])
	}
	every option in [
		"--show-origin", "--no-show-token", "--token", "--with-lines", "--mask", "--secret-name=a", "--plaintext", "--no-color",
	] {
		not _shows_by([call("unheard-of", [option], ["config", "list"])])
	}
	not _shows_by([call("unheard-of", ["--"], ["--show-token"])])
	not _shows_by([object.union(call("unheard-of", [], []), {"argv": ["unheard-of", "--help", "--show-token"]})])
}

test_a_file_with_secrets_that_is_run_is_read if {
	_run_by("bash", ["-x"], "~/.netrc") == {"command.reads_credentials"}
	_run_by("python3", [], "/root/.aws/credentials") == {"command.reads_credentials"}
	_run_by("bash", ["-x"], "./build.sh") == set()
}

_run_by(program, flags, file) := {finding.rule | some finding in found} if {
	found := data.bailiff._examined.interprets with input as request("cli", [call(program, flags, [file])])
}
