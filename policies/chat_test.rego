package bailiff_test

# What a chat of a platform gets by an entry of its own.
_in_chat(platform, entry) := _settled_by(_chats(platform, entry), object.union(_ls(platform), {"session": {"chat_id": "-100/7"}}))

_chats(platform, entry) := {"chats": {concat("/", [platform, "-100/7"]): entry}}

test_every_other_chat_gets_what_its_platform_does if {
	entry := {
		"backends": ["bubblewrap"], "isolation": "required", "take": "ready", "network": {"network": "full"},
		"images": {"docker": "x"}, "persistent": {"docker": true}, "limits": {"memory_mb": 512},
	}
	every platform in ["telegram", "cli"] {
		_settled_by(_chats(platform, entry), object.union(_ls(platform), {"session": {"chat_id": "-100"}})) == _settled(_ls(platform))
		_in_chat(platform, entry) != _settled(_ls(platform))
	}
}

test_chat_without_an_entry_is_its_platforms if {
	_in_chat("telegram", {}) == _settled(_ls("telegram"))
}

test_chat_has_a_backend_of_its_own if {
	_in_chat("telegram", {"backends": ["bubblewrap", "docker"]}).backend.name == "bubblewrap"
	_in_chat("cli", {"backends": ["local"]}).backend.name == "local"
}

test_chat_can_only_isolate_more if {
	_in_chat("cli", {"isolation": "required", "backends": ["local", "docker"]}).backend.name == "docker"
	every word in ["optional", "none", ""] {
		_in_chat("telegram", {"isolation": word, "backends": ["local", "docker"]}).backend.name == "docker"
		_in_chat("telegram", {"isolation": word, "backends": ["local"]}).backend.name == ""
	}
}

test_chat_says_what_is_taken if {
	states := {"backend": {"available": {"docker": {"ready": false}}}, "session": {"chat_id": "7"}}
	asked := object.union(_ls("telegram"), states)
	ready := object.union(_usual_platform, {"take": "ready"})
	_settled_by({"chats": {"telegram/7": {"take": "ready"}}}, asked).backend.name == "bubblewrap"
	_settled_by({"platforms": {"telegram": ready}}, asked).backend.name == "bubblewrap"
	_settled_by({"platforms": {"telegram": ready}, "chats": {"telegram/7": {"take": "first"}}}, asked).backend.name == "docker"
}

test_chat_has_an_image_of_its_own if {
	platform := object.union(_usual_platform, {"images": {"docker": "debian:12", "bubblewrap": "x"}})
	asked := object.union(_ls("telegram"), {"session": {"chat_id": "7"}})
	_settled_by(
		{"platforms": {"telegram": platform}, "chats": {"telegram/7": {"images": {"docker": "python:3.13"}}}},
		asked,
	).backend.image == "python:3.13"
	_settled_by(
		{"platforms": {"telegram": platform}, "chats": {"telegram/7": {"images": {"bubblewrap": "y"}}}},
		asked,
	).backend.image == "debian:12"
	_in_chat("telegram", {"images": {"docker": "python:3.13"}}).backend.image == "python:3.13"
}

test_chat_or_its_platform_chooses_a_runtime_and_nothing_is_said_without if {
	platform := object.union(_usual_platform, {"runtimes": {"docker": "runsc", "bubblewrap": "x"}})
	asked := object.union(_ls("telegram"), {"session": {"chat_id": "7"}})
	_settled_by({"platforms": {"telegram": platform}}, asked).backend.runtime == "runsc"
	every runtimes, runtime in {{"docker": "kata"}: "kata", {"bubblewrap": "y"}: "runsc"} {
		chats := {"telegram/7": {"runtimes": runtimes}}
		_settled_by({"platforms": {"telegram": platform}, "chats": chats}, asked).backend.runtime == runtime
	}
	_in_chat("telegram", {"runtimes": {"docker": "kata"}}).backend.runtime == "kata"
	not "runtime" in object.keys(_settled(asked).backend)
	not "runtime" in object.keys(_in_chat("telegram", {"runtimes": {"bubblewrap": "y"}}).backend)
}

test_chat_keeps_its_files_or_does_not if {
	_in_chat("telegram", {"persistent": {"docker": true}}).backend.persistent
	platform := object.union(_usual_platform, {"persistent": {"docker": true}})
	asked := object.union(_ls("telegram"), {"session": {"chat_id": "7"}})
	_settled_by(
		{"platforms": {"telegram": platform}, "chats": {"telegram/7": {"persistent": {"docker": false}}}},
		asked,
	).backend.persistent == false
	_settled_by(
		{"platforms": {"telegram": platform}, "chats": {"telegram/7": {"persistent": {"bubblewrap": false}}}},
		asked,
	).backend.persistent
}

test_chat_lives_shorter_and_never_longer if {
	short := _in_chat("telegram", {"limits": {"idle_seconds": 60, "max_seconds": 600, "memory_mb": 512}}).backend
	object.filter(short, ["idle_seconds", "max_seconds", "memory_mb"]) == {"idle_seconds": 60, "max_seconds": 600, "memory_mb": 512}
	long := _in_chat("telegram", {"limits": {"idle_seconds": 7200, "max_seconds": 172800}}).backend
	object.filter(long, ["idle_seconds", "max_seconds"]) == {"idle_seconds": 3600, "max_seconds": 86400}
}

test_chat_has_a_network_of_its_own if {
	_in_chat("telegram", {"network": {"network": "full"}}).backend.network == "full"
	opened := {"network": {"platforms": {"telegram": {"network": "full"}}}, "chats": {"telegram/7": {"network": {"network": "none"}}}}
	_settled_by(opened, object.union(_ls("telegram"), {"session": {"chat_id": "7"}})).backend.network == "none"
	_settled_by(opened, _ls("telegram")).backend.network == "full"
	_in_chat("cli", {"backends": ["local"], "network": {"network": "none"}}).backend.network == "none"
}

test_chat_of_a_platform_nobody_listed_is_denied if {
	lost := object.union(_ls("pigeon"), {"session": {"chat_id": "7"}})
	"session.unknown_platform" in _rules_of(_faults_by({"chats": {"pigeon/7": {"backends": ["docker"]}}}, lost))
}
