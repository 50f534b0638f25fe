package bailiff_test

test_verbs_of_clouds_are_found_in_any_place if {
	_found([call("aws", [], ["sns", "delete-topic", "x"])]) == {"command.destroys_data"}
	_found([call("az", [], ["sub", "vm", "delete", "x"])]) == {"command.destroys_data"}
	_found([call("gcloud", [], ["beta", "run", "services", "delete", "x"])]) == {"command.destroys_data"}
	_found([call("gcloud", [], ["auth", "application-default", "print-access-token"])]) == {"command.reads_credentials"}
	_found([call("aws", [], ["ec2", "describe-instances"])]) == set()
	_found([call("az", [], ["vm", "list"])]) == set()
	_found([call("gcloud", [], ["config", "configurations", "create", "x"])]) == set()
}

test_secrets_of_a_cluster_are_found_however_they_are_named if {
	every words in [["get", "secret/x"], ["describe", "secret", "x"], ["get", "pods,secrets"]] {
		_found([call("kubectl", [], words)]) == {"command.reads_credentials"}
	}
	_found([call("kubectl", [], ["get", "pods"])]) == set()
	_found([call("kubectl", [], ["describe", "pod", "secretary"])]) == set()
}

test_servers_for_other_machines_are_found if {
	_found([call("php", [], ["-S", "0.0.0.0:8000"])]) == {"command.opens_to_network"}
	_found([call("npx", [], ["serve", "~"])]) == {"command.opens_to_network"}
	_found([call("php", [], ["-S", "localhost:8000"])]) == set()
	_found([call("ttyd", [], ["bash"])]) == {"command.opens_to_network"}
	_found([call("ttyd", ["--version"], [])]) == set()
}

test_trying_changes_nothing_elsewhere if {
	_found([call("npm", [], ["publish"])]) == {"command.changes_elsewhere"}
	_found([call("npm", ["--dry-run"], ["publish"])]) == set()
	_found([call("curl", ["-X"], ["DELETE", "https://x.test"])]) == {"command.destroys_data"}
	_found([call("curl", [], ["http://localhost:2375/containers/json"])]) == {"command.uses_container_engine"}
}

test_verbs_of_services_are_found_in_any_place if {
	_found([call("openstack", [], ["server", "delete", "x"])]) == {"command.destroys_data"}
	_found([call("helmfile", [], ["apply"])]) == {"command.changes_elsewhere"}
	_found([call("argocd", ["--dry-run"], ["app", "delete", "x"])]) == set()
	_found([call("openstack", [], ["server", "list"])]) == set()
}

test_addresses_that_delete_are_found if {
	_found([call("curl", ["-X"], ["POST", "https://x.test/logs/_delete_by_query"])]) == {"command.destroys_data"}
	_found([call("curl", ["-X"], ["POST", "https://x.test/logs/_search"])]) == set()
}

test_an_unknown_program_may_delete if {
	_found([call("unheard-of", [], ["app", "delete-all", "x"])]) == {"command.may_change_elsewhere"}
	_found([call("unheard-of", [], ["deploy"])]) == {"command.may_change_elsewhere"}
	_found([call("unheard-of", [], ["list", "deleted"])]) == set()
	_found([call("unheard-of", [], ["a", "b", "delete"])]) == set()
	_found([call("unheard-of", ["-x"], ["delete"])]) == {"command.may_change_elsewhere"}
	_found([object.union(call("unheard-of", ["--help"], ["delete"]), {"argv": ["unheard-of", "delete", "--help"]})]) == set()
	_found([call("git", [], ["branch", "delete"])]) == set()
}

test_the_keys_of_a_cluster_are_secrets if {
	"command.reads_credentials" in _found([call("kubectl", [], ["config", "view", "--raw"])])
	_found([call("kubectl", [], ["config", "view"])]) == set()
}

test_words_to_a_server_of_files_are_found if {
	_found([call("curl", ["-Q"], ["DELE old", "ftp://files.test"])]) == {"command.destroys_data"}
	_found([call("curl", ["-Q"], ["NOOP", "ftp://files.test"])]) == set()
}

test_servers_that_listen_widely_by_themselves if {
	every server in [call("serve", [], ["build"]), call("http-server", ["-p", "80"], ["."]), call("live-server", [], [])] {
		_found([server]) == {"command.opens_to_network"}
	}
	every server in [
		call("serve", ["-l", "tcp://localhost:3000"], ["build"]), call("http-server", ["-a", "127.0.0.1"], ["."]),
		call("http-server", ["--help"], []),
	] {
		_found([server]) == set()
	}
}

test_relays_are_found_however_they_are_spelt if {
	every words in [["--ORPort", "9001"], ["orport", "9001"], ["-OrPort", "auto"], ["--HiddenServiceDir", "d"], ["BridgeRelay", "1"]] {
		_found([call("tor", [], words)]) == {"command.opens_to_network"}
	}
	every words in [[], ["--SocksPort", "9050"], ["--verify-config"]] {
		_found([call("tor", [], words)]) == set()
	}
}

test_verbs_in_capitals_delete if {
	_found([call("unknown-cli", [], ["ecs", "DeleteInstance"])]) == {"command.may_change_elsewhere"}
	_found([call("tccli", [], ["cvm", "TerminateInstances"])]) == {"command.destroys_data"}
	_found([call("unknown-cli", [], ["ecs", "DescribeInstances"])]) == set()
}
