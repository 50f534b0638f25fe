package bailiff_test

# What is found in words that may only try something.
_trials(calls) := _trials_with(calls, {})

_trials_with(calls, facts) := _told_of(found) if {
	found := data.bailiff._examined.calls | data.bailiff._examined.macros with input as _text_with(calls, facts)
}

# What is found where words are all of the text.
_found_alone(words) := _found_spelt(words, concat(" ", words))

_found_spelt(words, text) := _trials_with([_spoken(words)], {"text": text}).rules

test_a_change_of_a_cluster_that_is_only_tried_is_none if {
	every words in [["kubectl", "apply", "-f", "k8s", "--dry-run=client"], ["kubectl", "delete", "pod", "web", "--dry-run=server"]] {
		_trials([_spoken(words)]).rules == set()
	}
	every words in [
		["kubectl", "apply", "-f", "k8s", "--dry-run=none"], ["kubectl", "delete", "pod", "web", "--dry-run=client", "--dry-run=none"],
		["kubectl", "exec", "web", "--", "sh", "--dry-run=client"], ["kubectl", "exec", "web", "--dry-run=client"],
		["kubectl", "delete", "pv", "--all", "-n", "--dry-run=client"],
		["kubectl", "apply", "-f", "a", "--field-manager", "--dry-run=client"],
		["kubectl", "delete", "clusterrole", "admin", "-n", "--dry-run=client"],
	] {
		"command.uses_container_engine" in _trials([_spoken(words)]).rules
	}
}

test_a_verb_may_stand_behind_options_that_are_known if {
	every words in [
		["kubectl", "-n", "web", "apply", "-f", "k8s", "--dry-run=client"], ["docker", "buildx", "build", "--load", "-t", "x", "."],
		["docker", "compose", "-f", "a.yml", "-p", "x", "ps"], ["docker", "compose", "--profile=a", "--file", "a.yml", "logs"],
	] {
		_trials([_spoken(words)]).rules == set()
	}
	every words in [
		["kubectl", "-n", "apply", "exec", "web", "--dry-run=client"], ["docker", "buildx", "rm", "build", "."],
		["docker", "build", "-t", "x", "github.com/a/b"], ["docker", "build", "-t", "."],
		["docker", "compose", "-f", "-p", "rm", "ps"],
		["docker", "compose", "-f", "oci://a/b", "ps"], ["docker", "compose", "-f", "a.yml", "rm", "ps"],
		["docker", "compose", "--unheard-of", "ps", "rm"], ["docker", "compose", "-f"],
	] {
		"command.uses_container_engine" in _trials([_spoken(words)]).rules
	}
}

test_a_release_that_is_only_tried_is_none if {
	every words in [
		["helm", "install", "x", "./chart", "--dry-run"], ["helm", "uninstall", "x", "--dry-run=client"],
		["helm", "upgrade", "-i", "x", "./chart", "-n", "web", "--dry-run"],
	] {
		_found_alone(words) == set()
	}
	every words in [
		["helm", "uninstall", "x", "--dry-run=none"], ["helm", "uninstall", "x", "--dry-run=server"],
		["helm", "uninstall", "x", "-n", "--dry-run"], ["helm", "install", "x", "./c", "--post-renderer", "a", "--dry-run"],
		["helm", "install", "x", "oci://a/c", "--dry-run"], ["helm", "tiller", "uninstall", "x", "--dry-run"],
		["helm", "plugin", "install", "x", "--dry-run"], ["helm", "uninstall", "x", "--dry-run", "--dry-run=none"],
	] {
		"command.uses_container_engine" in _found_alone(words)
	}
	"command.uses_container_engine" in _found_spelt(["helm", "uninstall", "x", "--dry-run"], "helm uninstall x ${X:---dry-run}")
}

test_a_trial_of_rsync_deletes_nothing if {
	every words in [
		["rsync", "-an", "--delete", "src/", "out"], ["rsync", "--dry-run", "-a", "--delete-after", "src/", "host:out"],
		["rsync", "-a", "--list-only", "--delete", "src/"],
	] {
		not "command.deletes_recursively" in _found_alone(words)
	}
	every words in [
		["rsync", "-a", "--delete", "src/", "out"], ["rsync", "-n", "--delete", "--no-n", "src/", "out"],
		["rsync", "-a", "-T", "-n", "--delete", "src/", "out"], ["rsync", "-aTn", "--delete", "src/", "out"],
		["rsync", "-a", "--suffix", "-n", "--delete", "src/", "out"], ["rsync", "--temp-dir", "--dry-run", "--delete", "src/", "out"],
		["rsync", "-a", "--delete", "src/", "--", "-n"], ["rsync", "-an", "--delete", "$X", "src/", "out"],
		["rsync", "-an", "--delete", "*", "out"],
	] {
		"command.deletes_recursively" in _found_alone(words)
	}
	words := ["rsync", "-an", "--delete", "src/", "out"]
	every text in [
		"rsync -an --delete src/ ${X:-out}", "cat x | xargs rsync -an --delete src/ out",
		"alias rsync=x; rsync -an --delete src/ out",
	] {
		"command.deletes_recursively" in _found_spelt(words, text)
	}
	others := _trials_with([_spoken(words), call("ls", [], [])], {"text": concat(" ", words)}).rules
	"command.deletes_recursively" in others
	elsewhere := object.union(_spoken(words), {"argv": array.concat(["./rsync"], array.slice(words, 1, 5))})
	"command.deletes_recursively" in _trials_with([elsewhere], {"text": concat(" ", elsewhere.argv)}).rules
}

test_macros_of_rpm_that_only_name_something_run_nothing if {
	every text in ["rpm --eval '%{_libdir}'", "rpm -E \"%{?dist}\"", "rpm -E %_arch"] {
		words := split(regex.replace(text, `['"]`, ""), " ")
		_found_spelt(words, text) == set()
	}
	every words in [
		["rpm", "--load", "m", "--eval", "%x"], ["rpm", "--eval", "%{lua:x}"], ["rpm", "--eval", "%{expr:1}"], ["rpm", "--eval", "@m"],
		["rpm", "-D", "x", "-E", "%x"], ["rpm", "--eval", "%*"], ["rpm", "--eval", "%$f"], ["rpm", "--pipe", "sh", "--eval", "%x"],
	] {
		"command.runs_inline_program" in _found_alone(words)
	}
	"command.runs_inline_program" in _found_spelt(["rpm", "--eval", "%x"], "rpm --eval ${X:-%x}")
}

test_rclone_only_looks_where_no_word_opens_more if {
	every words in [
		["rclone", "ls", "remote:"], ["rclone", "lsf", "-R", "--max-depth", "2", "remote:a"], ["rclone", "-v", "size", "a"],
		["rclone", "lsjson", "--include=*.txt", "remote:"],
	] {
		_trials([_spoken(words)]).rules == set()
	}
	every words in [
		["rclone", "cat", "remote:a"], ["rclone", "copy", "remote:a", "out"], ["rclone", "ls", ":local:/etc"],
		["rclone", "ls", "remote,ssh=x:"], ["rclone", "ls", "$X"], ["rclone", "size", "remote:", "--config", "x"],
		["rclone", "ls", "remote:", "--rc"], ["rclone", "ls", "remote:", "--sftp-ssh=sh"],
		["rclone", "ls", "remote:", "--password-command", "x"], ["rclone", "-v", "ls", "remote:", "--metadata-mapper", "x"],
	] {
		"command.sends_files" in _trials([_spoken(words)]).rules
	}
	with_setting := object.union(_spoken(["rclone", "ls", "L:"]), {"assigns": ["RCLONE_CONFIG_L_TYPE"]})
	"command.sends_files" in _trials([with_setting]).rules
}
