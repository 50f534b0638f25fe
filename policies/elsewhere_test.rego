package bailiff_test

# What is found of services, clusters, servers, and requests to other machines.
_services(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.remote,
		data.bailiff._examined.service,
		data.bailiff._examined.calls,
		{finding | "supplied" in data.bailiff._aspects; some finding in data.bailiff._examined.supplied},
	}) with input as request("cli", calls)
}

_clusters(calls) := _told_of(found) if {
	found := data.bailiff._examined.clusters | data.bailiff._examined.calls with input as request("cli", calls)
}

_servers(calls) := _told_of(found) if {
	listening := (data.bailiff._examined.listens | data.bailiff._examined.listens_widely) | data.bailiff._examined.relays
		with input as request("cli", calls)
	found := listening | data.bailiff._examined.calls with input as request("cli", calls)
}

_requests(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.uploads,
		data.bailiff._examined.asks_an_api,
		data.bailiff._examined.sends,
	}) with input as request("cli", calls)
}

test_verbs_of_clouds_are_found_in_any_place if {
	_services([call("aws", [], ["sns", "delete-topic", "x"])]).rules == {"command.destroys_data"}
	_services([call("az", [], ["sub", "vm", "delete", "x"])]).rules == {"command.destroys_data"}
	_services([call("gcloud", [], ["beta", "run", "services", "delete", "x"])]).rules == {"command.destroys_data"}
	_services([call("gcloud", [], ["auth", "application-default", "print-access-token"])]).rules == {"command.reads_credentials"}
	_services([call("aws", [], ["ec2", "describe-instances"])]).rules == set()
	_services([call("az", [], ["vm", "list"])]).rules == set()
	_services([call("gcloud", [], ["config", "configurations", "create", "x"])]).rules == set()
}

test_secrets_of_a_cluster_are_found_however_they_are_named if {
	every words in [["get", "secret/x"], ["describe", "secret", "x"], ["get", "pods,secrets"]] {
		_clusters([call("kubectl", [], words)]).rules == {"command.reads_credentials"}
	}
	_clusters([call("kubectl", [], ["get", "pods"])]).rules == set()
	_clusters([call("kubectl", [], ["describe", "pod", "secretary"])]).rules == set()
}

test_servers_for_other_machines_are_found if {
	_servers([call("php", [], ["-S", "0.0.0.0:8000"])]).rules == {"command.opens_to_network"}
	_servers([call("npx", [], ["serve", "~"])]).rules == {"command.opens_to_network"}
	_servers([call("php", [], ["-S", "localhost:8000"])]).rules == set()
	_servers([call("ttyd", [], ["bash"])]).rules == {"command.opens_to_network"}
	_servers([call("ttyd", ["--version"], [])]).rules == set()
}

test_trying_changes_nothing_elsewhere if {
	_services([call("npm", [], ["publish"])]).rules == {"command.changes_elsewhere"}
	_services([call("npm", ["--dry-run"], ["publish"])]).rules == set()
	_requests([call("curl", ["-X"], ["DELETE", "https://x.test"])]).rules == {"command.destroys_data"}
	_requests([call("curl", [], ["http://localhost:2375/containers/json"])]).rules == {"command.uses_container_engine"}
}

test_verbs_of_services_are_found_in_any_place if {
	_services([call("openstack", [], ["server", "delete", "x"])]).rules == {"command.destroys_data"}
	_services([call("helmfile", [], ["apply"])]).rules == {"command.changes_elsewhere"}
	_services([call("argocd", ["--dry-run"], ["app", "delete", "x"])]).rules == set()
	_services([call("openstack", [], ["server", "list"])]).rules == set()
}

test_addresses_that_delete_are_found if {
	_requests([call("curl", ["-X"], ["POST", "https://x.test/logs/_delete_by_query"])]).rules == {"command.destroys_data"}
	_requests([call("curl", ["-X"], ["POST", "https://x.test/logs/_search"])]).rules == set()
}

test_an_unknown_program_may_delete if {
	_by_tables([call("unheard-of", [], ["app", "delete-all", "x"])]).rules == {"command.may_change_elsewhere"}
	_by_tables([call("unheard-of", [], ["deploy"])]).rules == {"command.may_change_elsewhere"}
	_by_tables([call("unheard-of", [], ["list", "deleted"])]).rules == set()
	_by_tables([call("unheard-of", [], ["a", "b", "delete"])]).rules == set()
	_by_tables([call("unheard-of", ["-x"], ["delete"])]).rules == {"command.may_change_elsewhere"}
	_by_tables([object.union(call("unheard-of", ["--help"], ["delete"]), {"argv": ["unheard-of", "delete", "--help"]})]).rules == set()
	_by_tables([call("git", [], ["branch", "delete"])]).rules == set()
}

test_the_keys_of_a_cluster_are_secrets if {
	"command.reads_credentials" in _clusters([call("kubectl", [], ["config", "view", "--raw"])]).rules
	_clusters([call("kubectl", [], ["config", "view"])]).rules == set()
}

test_words_to_a_server_of_files_are_found if {
	_requests([call("curl", ["-Q"], ["DELE old", "ftp://files.test"])]).rules == {"command.destroys_data"}
	_requests([call("curl", ["-Q"], ["NOOP", "ftp://files.test"])]).rules == set()
}

test_servers_that_listen_widely_by_themselves if {
	every server in [call("serve", [], ["build"]), call("http-server", ["-p", "80"], ["."]), call("live-server", [], [])] {
		_servers([server]).rules == {"command.opens_to_network"}
	}
	every server in [
		call("serve", ["-l", "tcp://localhost:3000"], ["build"]), call("http-server", ["-a", "127.0.0.1"], ["."]),
		call("http-server", ["--help"], []),
	] {
		_servers([server]).rules == set()
	}
}

test_relays_are_found_however_they_are_spelt if {
	every words in [["--ORPort", "9001"], ["orport", "9001"], ["-OrPort", "auto"], ["--HiddenServiceDir", "d"], ["BridgeRelay", "1"]] {
		_servers([call("tor", [], words)]).rules == {"command.opens_to_network"}
	}
	every words in [[], ["--SocksPort", "9050"], ["--verify-config"]] {
		_servers([call("tor", [], words)]).rules == set()
	}
}

test_verbs_in_capitals_delete if {
	_services([call("unknown-cli", [], ["ecs", "DeleteInstance"])]).rules == {"command.may_change_elsewhere"}
	_services([call("tccli", [], ["cvm", "TerminateInstances"])]).rules == {"command.destroys_data"}
	_services([call("unknown-cli", [], ["ecs", "DescribeInstances"])]).rules == set()
}

_may_change_by(calls) := "command.may_change_elsewhere" in _by_tables(calls).rules

test_verbs_of_unknown_programs_are_found_behind_options if {
	_may_change_by([call("unheard-of", [], ["decommission"])])
	_may_change_by([{
		"program": "unheard-of", "argv": ["unheard-of", "-u", "ana", "-h", "a.test", "delete", "x"], "flags": ["-u", "-h"],
		"operands": ["ana", "a.test", "delete", "x"], "wrappers": [], "assigns": [], "reads": [], "writes": [], "pipes_to": "",
	}])
	not _may_change_by([{
		"program": "unheard-of", "argv": ["unheard-of", "-u", "ana", "read", "a", "delete"], "flags": ["-u"],
		"operands": ["ana", "read", "a", "delete"], "wrappers": [], "assigns": [], "reads": [], "writes": [], "pipes_to": "",
	}])
}

test_a_verb_and_what_it_ends_may_be_one_word if {
	every word in ["clearsnapshot", "removenode", "truncatehints", "dropdatabase", "resetcluster", "burn-fuses", "mass_erase"] {
		_may_change_by([call("unheard-of", [], [word, "x"])])
	}
	every word in ["clearly", "removed", "burn", "resetting", "dropdown", "clearcoat", "formats"] {
		not _may_change_by([call("unheard-of", [], [word, "x"])])
	}
}

test_a_verb_may_stand_behind_what_it_ends if {
	every operands in [["artifact", "rm", "x"], ["volume", "remove", "x"], ["compute", "instance", "delete", "x"], ["user-delete", "x"]] {
		_may_change_by([call("unheard-of", [], operands)])
	}
	every operands in [["a.txt", "rm"], ["rm", "x"], ["a", "b", "c", "rm"], ["artifact", "list", "rm"], ["echo", "rm"]] {
		not _may_change_by([call("unheard-of", [], operands)])
	}
	_may_change_by([call("unheard-of-delete", [], ["x"])])
	not _may_change_by([object.union(call("unheard-of-delete", [], ["x"]), {"argv": ["./unheard-of-delete", "x"]})])
	not _may_change_by([call("unheard-of-delete", [], [])])
}

test_a_list_that_a_client_deletes_is_asked_about if {
	by_a_list := {"wrappers": ["xargs"]}
	deletes := {"command.destroys_data"}
	every program in ["redis-cli", "unheard-of"] {
		_services([call("xargs", [], [program]), object.union(call(program, [], ["del", "$(…)"]), by_a_list)]).rules & deletes == deletes
	}
	_services([call("redis-cli", [], ["del", "x"])]).rules == set()
	_services([call("xargs", [], ["redis-cli"]), object.union(call("redis-cli", [], ["get", "$(…)"]), by_a_list)]).rules == set()
	_services([call("xargs", [], ["grep"]), object.union(call("grep", [], ["delete", "$(…)"]), by_a_list)]).rules == set()
	_services([call("xargs", [], ["git"]), object.union(call("git", [], ["rm", "$(…)"]), by_a_list)]).rules & deletes == set()
}

test_a_listing_of_another_host_sends_nothing if {
	_services([call("borg", [], ["create", "ssh://a.test/repo::x", "."])]).rules == {"command.sends_files"}
	_services([call("borg", [], ["list", "ssh://a.test/repo"])]).rules == set()
}
