package bailiff_test

_found_in(facts) := {finding.rule | some finding in findings} if {
	findings := data.bailiff.findings with input as on_host(program("cli", facts))
		with data.bailiff.tables.network as _usual_tables.network
}

test_ordinary_program_has_no_finding if _found_in({"imports": ["json"], "calls": ["json.dumps", "open"], "reads": ["a.json"]}) == set()

test_hidden_program_is_found if {
	_found_in({"complete": false}) == {"code.hides_meaning"}
	_found_in({"parsed": false}) == {"code.hides_meaning"}
}

test_calls_have_rules if {
	_found_in({"calls": ["shutil.rmtree"], "writes": ["build"]}) == {"command.deletes_recursively"}
	"command.destroys_system" in _found_in({"calls": ["shutil.rmtree"], "writes": ["/"]})
	_found_in({"calls": ["os.kill"]}) == {"command.kills_processes"}
	_found_in({"features": ["ctypes"]}) == {"code.calls_native"}
	_found_in({"reads": ["~/.ssh/id_rsa"]}) == {"command.reads_credentials"}
	_found_in({"writes": ["/etc/hosts"]}) == {"command.writes_system"}
	_found_in({"calls": ["requests.post"], "reads": ["a.txt"], "hosts": ["x.test"]}) == {"command.sends_files"}
	_found_in({"hosts": ["169.254.169.254"]}) == {"command.reaches_metadata"}
	_found_in({"imports": ["sqlite3"], "strings": ["DROP TABLE users"]}) == {"command.destroys_data"}
}

test_methods_of_libraries_that_reach_services_have_rules if {
	_found_in({"calls": ["boto3.client", "boto3.delete_bucket"]}) == {"command.destroys_data"}
	_found_in({"calls": ["azure.begin_delete"]}) == {"command.destroys_data"}
	_found_in({"calls": ["requests.delete"]}) == {"command.destroys_data"}
	_found_in({"calls": ["psutil.kill"]}) == {"command.kills_processes"}
	_found_in({"calls": ["stripe.Refund.create"]}) == {"command.costs_money"}
	_found_in({"calls": ["slack_sdk.chat_postMessage"]}) == {"command.changes_elsewhere"}
	_found_in({"calls": ["boto3.list_buckets", "redis.delete", "pandas.drop", "numpy.delete", "delete"]}) == set()
}

test_python_in_a_shell_text_is_judged_alike if {
	_found_in_shell({"calls": ["shutil.rmtree"], "writes": ["build"]}) == {"command.deletes_recursively"}
	_found_in_shell({"calls": ["requests.post"], "reads": ["a.txt"], "hosts": ["x.test"]}) == set()
	_found_in_shell({"features": ["sends_files"]}) == {"command.sends_files"}
	_found_in_shell({"imports": ["json"], "calls": ["json.load", "print"]}) == set()
}

_found_in_shell(facts) := _found_with([], {"code": program("cli", facts).code})

test_a_program_that_was_not_read_is_found_by_older_facts_too if {
	_found_with([], {"features": ["inline_program"]}) == {"command.runs_inline_program"}
	_found_with([], {"features": ["inline_program"], "code": program("cli", {}).code}) == set()
	_found_with([], {"features": ["inline_program", "read_program"]}) == set()
	_found_with([], {"features": ["inline_program", "read_program", "unread_program"]}) == {"command.runs_inline_program"}
}

test_calls_that_matter_are_named_by_their_rule if {
	_said_in({"calls": ["os.fork"]}) == {"code.forks: "}
	_said_in({"calls": ["os.dup2", "socket.socket"]}) == {"command.opens_reverse_shell: "}
	_said_in({"calls": ["os.dup2", "open"]}) == set()
	_said_in({"calls": ["os.kill"], "complete": false}) == {"code.hides_meaning: ", "command.kills_processes: "}
	_said_in({"calls": ["len", "print", "json.loads"]}) == set()
}

test_what_a_program_sends_is_found if {
	_said_in({"calls": ["requests.post"], "reads": ["a.txt"], "hosts": ["x.test"]}) == {"command.sends_files: "}
	_said_in({"calls": ["requests.post"], "reads": ["a.txt"], "hosts": ["localhost"]}) == set()
	_said_in({"calls": ["requests.post"], "hosts": ["x.test"]}) == set()
	_said_in({"calls": ["socket.socket"], "variables": ["API_TOKEN"]}) == {"command.sends_environment: "}
	_said_in({"calls": ["socket.socket"], "variables": ["LANG"]}) == set()
	_said_in({"calls": ["requests.get"], "variables": ["API_TOKEN"]}) == set()
}

test_sockets_of_engines_and_own_ones_are_found if {
	"command.uses_container_engine: /run/podman/podman.sock" in _said_in({"writes": ["/run/podman/podman.sock"]})
	"command.changes_own_settings: state/operator.sock" in _said_in({"writes": ["state/operator.sock"]})
	_said_in({"writes": ["/tmp/app.sock"]}) == set()
}

test_files_in_what_is_sent_are_found if {
	_said_in({"features": ["sends_files"]}) == {"command.sends_files: "}
}
