package bailiff_test

_ls(platform) := request(platform, [call("ls", [], [])])

test_image_comes_from_the_table if {
	answer := _settled_by({"platforms": {"telegram": {"images": {"docker": "debian:12"}}}}, _ls("telegram"))
	answer.backend.image == "debian:12"
}

test_files_are_kept_where_the_tables_say_so if {
	not _kept_for("telegram", {}, {})
	_kept_for("telegram", {"persistent": true}, {})
	_kept_for("telegram", {}, {"docker": true})
	_kept_for("telegram", {}, {"bubblewrap": true}) == false
	_kept_for("telegram", {"persistent": true}, {"docker": false}) == false
}

# What is said of keeping files when the tables of docker and of the platform say more.
_kept_for(name, sandbox, kept) := answer.backend.persistent if {
	docker := object.union(_usual_sandbox, sandbox)
	platform := object.union(_usual_platform, {"persistent": kept})
	answer := _settled_by(object.union({"sandboxes": {"docker": docker}}, {"platforms": {"telegram": platform}}), _ls(name))
}

test_sandbox_has_an_age_and_the_least_of_those_given_holds if {
	_settled(_ls("telegram")).backend.max_seconds == 86400
	platform := object.union(_usual_platform, {"limits": {"max_seconds": 600, "background_seconds": 90, "processes": 2}})
	short := _settled_by({"platforms": {"telegram": platform}}, _ls("telegram"))
	short.backend.max_seconds == 600
	short.limits == {"timeout_seconds": 180, "output_bytes": 50000, "background_seconds": 90, "processes": 2}
}

test_backend_is_described_as_a_whole if {
	_settled(_ls("telegram")).backend == {
		"cpus": 1,
		"disk_mb": 0,
		"workspace_mb": 0,
		"workspace_files": 0,
		"egress": [],
		"idle_seconds": 3600,
		"image": "",
		"max_seconds": 86400,
		"memory_mb": 5120,
		"mounts": [],
		"name": "docker",
		"network": "none",
		"persistent": false,
		"pids": 256,
		"read_only": true,
		"scope": "session",
	}
	_settled(on_host(_ls("cli"))).backend == {
		"cpus": 0,
		"disk_mb": 0,
		"workspace_mb": 0,
		"workspace_files": 0,
		"egress": [],
		"idle_seconds": 0,
		"image": "",
		"max_seconds": 0,
		"memory_mb": 0,
		"mounts": [],
		"name": "local",
		"network": "full",
		"persistent": false,
		"pids": 0,
		"read_only": false,
		"scope": "session",
	}
	_settled(on_host(_ls("telegram"))).backend == {
		"cpus": 1,
		"disk_mb": 0,
		"workspace_mb": 0,
		"workspace_files": 0,
		"egress": [],
		"idle_seconds": 3600,
		"image": "",
		"max_seconds": 86400,
		"memory_mb": 5120,
		"mounts": [],
		"name": "",
		"network": "none",
		"persistent": false,
		"pids": 256,
		"read_only": true,
		"scope": "session",
	}
}
