package bailiff_test

import data.bailiff.decision

git_status := {
	"tool": "terminal",
	"args": {"command": "git status"},
	"caller": {"name": "test"},
	"session": {"id": "s", "platform": "telegram"},
	"command": {
		"text": "git status", "parsed": true, "complete": true,
		"programs": ["git"],
		"calls": [{
			"program": "git", "argv": ["git", "status"], "flags": [], "operands": ["status"],
			"wrappers": [], "reads": [], "writes": [], "pipes_to": "",
		}],
		"hosts": [], "reads": [], "writes": [], "variables": [], "features": [],
	},
	"env": {"requested": [], "available": []},
	"backend": {"requested": "", "available": {"docker": {"isolated": true, "ready": true}}},
	"time": "2026-11-21T12:00:00Z",
}

test_harmless_request_is_the_whole_document if {
	decision == {
		"outcome": "allow",
		"denials": [],
		"backend": {
			"name": "docker", "image": "", "scope": "session", "idle_seconds": 3600,
			"network": "none", "egress": [],
			"cpus": 1, "memory_mb": 5120, "disk_mb": 10240, "pids": 256,
			"read_only": true, "mounts": [],
		},
		"env": {"forward": [], "withheld": [], "set": {}, "sealed": []},
		"limits": {"timeout_seconds": 180, "output_bytes": 50000},
	} with input as git_status
}
