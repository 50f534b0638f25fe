package bailiff_test

# What is found in a program with these facts, and of the paths and hosts that it names.
_program_found(facts) := _told_of(found) if {
	found := union({
		data.bailiff._examined.program,
		data.bailiff._examined.paths,
		data.bailiff._examined.hosts,
		data.bailiff._found_in_text,
	}) with input as program("cli", facts) with data.bailiff.tables.network as _usual_tables.network
}

test_ordinary_program_has_no_finding if {
	_program_found({"imports": ["json"], "calls": ["json.dumps", "open"], "reads": ["a.json"]}).rules == set()
}

test_hidden_program_is_found if {
	_program_found({"complete": false}).rules == {"code.hides_meaning"}
	_program_found({"parsed": false}).rules == {"code.hides_meaning"}
}

test_calls_have_rules if {
	_program_found({"calls": ["shutil.rmtree"], "writes": ["build"]}).rules == {"command.deletes_recursively"}
	"command.destroys_system" in _program_found({"calls": ["shutil.rmtree"], "writes": ["/"]}).rules
	_program_found({"calls": ["os.kill"]}).rules == {"command.kills_processes"}
	_program_found({"features": ["ctypes"]}).rules == {"code.calls_native"}
	_program_found({"reads": ["~/.ssh/id_rsa"]}).rules == {"command.reads_credentials"}
	_program_found({"writes": ["/etc/hosts"]}).rules == {"command.writes_system"}
	_program_found({"calls": ["requests.post"], "reads": ["a.txt"], "hosts": ["x.test"]}).rules == {"command.sends_files"}
	_program_found({"hosts": ["169.254.169.254"]}).rules == {"command.reaches_metadata"}
	_program_found({"imports": ["sqlite3"], "strings": ["DROP TABLE users"]}).rules == {"command.destroys_data"}
}

test_methods_of_libraries_that_reach_services_have_rules if {
	_program_found({"calls": ["boto3.client", "boto3.delete_bucket"]}).rules == {"command.destroys_data"}
	_program_found({"calls": ["azure.begin_delete"]}).rules == {"command.destroys_data"}
	_program_found({"calls": ["requests.delete"]}).rules == {"command.destroys_data"}
	_program_found({"calls": ["psutil.kill"]}).rules == {"command.kills_processes"}
	_program_found({"calls": ["stripe.Refund.create"]}).rules == {"command.costs_money"}
	_program_found({"calls": ["slack_sdk.chat_postMessage"]}).rules == {"command.changes_elsewhere"}
	_program_found({"calls": ["boto3.list_buckets", "redis.delete", "pandas.drop", "numpy.delete", "delete"]}).rules == set()
}

test_python_in_a_shell_text_is_judged_alike if {
	_in_shell({"calls": ["shutil.rmtree"], "writes": ["build"]}).rules == {"command.deletes_recursively"}
	_in_shell({"calls": ["requests.post"], "reads": ["a.txt"], "hosts": ["x.test"]}).rules == set()
	_in_shell({"features": ["sends_files"]}).rules == {"command.sends_files"}
	_in_shell({"imports": ["json"], "calls": ["json.load", "print"]}).rules == set()
}

_in_shell(facts) := _in_a_text({"code": program("cli", facts).code})

_in_a_text(facts) := _told_of(found) if {
	found := data.bailiff._examined.program | data.bailiff._found_in_text with input as _text_with([], facts)
}

test_a_program_that_was_not_read_is_found_by_older_facts_too if {
	_in_a_text({"features": ["inline_program"]}).rules == {"command.runs_inline_program"}
	_in_a_text({"features": ["inline_program"], "code": program("cli", {}).code}).rules == set()
	_in_a_text({"features": ["inline_program", "read_program"]}).rules == set()
	_in_a_text({"features": ["inline_program", "read_program", "unread_program"]}).rules == {"command.runs_inline_program"}
}

test_calls_that_matter_are_named_by_their_rule if {
	_program_found({"calls": ["os.fork"]}).told == {"code.forks: "}
	_program_found({"calls": ["os.dup2", "socket.socket"]}).told == {"command.opens_reverse_shell: "}
	_program_found({"calls": ["os.dup2", "open"]}).told == set()
	_program_found({"calls": ["os.kill"], "complete": false}).told == {"code.hides_meaning: ", "command.kills_processes: "}
	_program_found({"calls": ["len", "print", "json.loads"]}).told == set()
}

test_what_a_program_sends_is_found if {
	_program_found({"calls": ["requests.post"], "reads": ["a.txt"], "hosts": ["x.test"]}).told == {"command.sends_files: "}
	_program_found({"calls": ["requests.post"], "reads": ["a.txt"], "hosts": ["localhost"]}).told == set()
	_program_found({"calls": ["requests.post"], "hosts": ["x.test"]}).told == set()
	_program_found({"calls": ["socket.socket"], "variables": ["API_TOKEN"]}).told == {"command.sends_environment: "}
	_program_found({"calls": ["socket.socket"], "variables": ["LANG"]}).told == set()
	_program_found({"calls": ["requests.get"], "variables": ["API_TOKEN"]}).told == set()
}

test_sockets_of_engines_and_own_ones_are_found if {
	"command.uses_container_engine: /run/podman/podman.sock" in _program_found({"writes": ["/run/podman/podman.sock"]}).told
	"command.changes_own_settings: state/operator.sock" in _program_found({"writes": ["state/operator.sock"]}).told
	_program_found({"writes": ["/tmp/app.sock"]}).told == set()
}

test_files_in_what_is_sent_are_found if {
	_program_found({"features": ["sends_files"]}).told == {"command.sends_files: "}
}
