package bailiff_test

# What is found of packages.
_packages(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.installs,
		data.bailiff._examined.launches,
		data.bailiff._examined.python,
		data.bailiff._examined.node_packages,
		data.bailiff._examined.calls,
	}) with input as request("cli", calls)
}

test_packages_from_an_address_are_downloads if {
	every installer in [
		call("pip", [], ["install", "https://x.test/a.whl"]), call("pip", [], ["install", "git+https://x.test/a"]),
		call("pip", [], ["install", "a @ git+https://x.test/a"]), call("npm", [], ["i", "github:a/b"]),
		call("yarn", [], ["add", "git@x.test:a/b"]), call("uv", [], ["pip", "install", "git+https://x.test/a"]),
		call("python3", ["-m"], ["pip", "install", "https://x.test/a.whl"]),
	] {
		_packages([installer]).rules == {"command.runs_downloaded"}
	}
}

test_packages_of_an_index_are_ordinary if {
	every installer in [
		call("pip", [], ["install", "requests"]), call("pip", [], ["install", "--index-url", "https://x.test/simple", "a"]),
		call("npm", [], ["install", "@types/node"]), call("npm", [], ["run", "https://x.test"]), call(
			"python3",
			[],
			["a.py", "install", "https://x.test"],
		),
	] {
		_packages([installer]).rules == set()
	}
}

test_packages_that_are_run_from_an_address_are_downloads if {
	every launcher in [
		call("npx", [], ["https://x.test/a.tgz"]), call("npx", ["-p", "github:a/b"], ["tool"]),
		call("npx", ["--package=git+https://x.test/a"], ["tool"]), call("pnpm", [], ["dlx", "https://x.test/a.tgz"]),
		call("uv", [], ["tool", "run", "--from", "git+https://x.test/a", "a"]), call("deno", [], ["run", "https://x.test/a.ts"]),
	] {
		_packages([launcher]).rules == {"command.runs_downloaded"}
	}
	every launcher in [
		call("npx", [], ["lighthouse", "https://x.test"]), call("pnpm", [], ["dlx", "tool", "https://x.test"]),
		call("deno", [], ["run", "a.ts", "https://x.test"]), call("deno", [], ["fmt", "https://x.test"]),
	] {
		_packages([launcher]).rules == set()
	}
}

test_packages_that_are_agents_start_agents if {
	every launcher in [
		call("npx", ["-y"], ["@anthropic-ai/claude-code@latest", "-p", "x"]), call("bunx", [], ["@google/gemini-cli", "-p", "x"]),
		call("pnpm", [], ["dlx", "@openai/codex", "exec", "x"]), call("npm", [], ["exec", "@qwen-code/qwen-code", "x"]),
		call("uvx", [], ["hermes-agent[all]==1.2", "chat"]), call("uv", [], ["tool", "run", "--from", "hermes-agent", "hermes"]),
		call("pipx", [], ["run", "aider-chat", "x"]), call("yarn", [], ["dlx", "opencode-ai", "run", "x"]), call("npx", [], ["claude"]),
	] {
		_packages([launcher]).rules == {"command.starts_agent"}
	}
	every launcher in [
		call("npx", [], ["cowsay", "claude"]), call("npm", [], ["install", "@openai/codex"]), call("npx", [], ["./claude-code"]),
		call("uvx", [], ["ruff", "check", "aider-chat"]),
	] {
		_packages([launcher]).rules == set()
	}
}

test_packages_of_the_project_are_ordinary if {
	_packages([call("npm", [], ["uninstall", "lodash"])]).rules == set()
	_packages([call("npm", ["-g"], ["uninstall", "lodash"])]).rules == {"command.removes_packages"}
}

test_packages_are_found_with_the_whole_call if {
	_packages([call("pip", [], ["install", "git+https://x.test/a"])]).told == {
		"command.runs_downloaded: pip install git+https://x.test/a",
	}
	_packages([call("npm", [], ["i", "github:a/b"])]).told == {"command.runs_downloaded: npm i github:a/b"}
	_packages([call("pip", [], ["install", "requests"])]).told == set()
	_packages([call("python3", ["-m"], ["pip", "install", "https://x.test/a.whl"])]).told == {
		"command.runs_downloaded: python3 -m pip install https://x.test/a.whl",
	}
	_packages([call("python3", ["-m"], ["pip", "uninstall", "jq"])]).told == {
		"command.removes_packages: python3 -m pip uninstall jq",
	}
	_packages([call("npm", ["-g"], ["rm", "jq"])]).told == {"command.removes_packages: npm -g rm jq"}
	_packages([call("apt", [], ["remove", "jq"])]).told == {"command.removes_packages: apt remove jq"}
}

test_packages_from_files_are_found if {
	_packages([call("rpm", ["-i", "-v"], ["a.rpm"])]).told == {"command.writes_system: rpm -i -v a.rpm"}
	_packages([call("rpm", ["-q", "-i"], ["bash"])]).told == set()
	_packages([call("pacman", ["-U"], ["a.zst"])]).told == {"command.writes_system: pacman -U a.zst"}
	_packages([call("pacman", ["-S"], ["jq"])]).told == {"command.writes_system: pacman -S jq"}
	_packages([call("urpmi", [], ["jq"])]).told == set()
	_packages([call("dnf", [], ["localinstall", "a.rpm"])]).told == {"command.writes_system: dnf localinstall a.rpm"}
	_packages([call("urpmi", [], ["https://x.test/a.rpm"])]).told == {"command.runs_downloaded: urpmi https://x.test/a.rpm"}
	_packages([call("dpkg", ["--unpack"], ["a"])]).told == {"command.writes_system: dpkg --unpack a"}
	_packages([call("rpm", ["-U", "--test"], ["a.rpm"])]).told == set()
}

test_a_package_file_is_told_by_its_ending if {
	every words in [
		["dnf", "install", "./a.rpm"], ["dnf5", "up", "a.rpm"], ["apt", "install", "./a.deb"], ["gdebi", "a.deb"],
		["apk", "add", "a.apk"], ["urpmi", "a.rpm"], ["flatpak", "install", "a.flatpak"],
	] {
		_packages([call(words[0], [], array.slice(words, 1, 3))]).rules == {"command.writes_system"}
	}
	_packages([call("dnf", ["--repo"], ["x", "install", "a.rpm"])]).rules == {"command.writes_system"}
	every words in [
		["apt", "show", "a.deb"], ["urpmi", "jq"], ["apk", "info", "a.apk"], ["dnf", "download", "a.rpm"],
		["flatpak", "install", "jq"],
	] {
		_packages([call(words[0], [], array.slice(words, 1, 3))]).rules == set()
	}
}

test_what_the_system_installs_changes_the_system if {
	every words in [
		["apt", "install", "jq"], ["apt-get", "upgrade", "-y"], ["dnf", "install", "jq"], ["apk", "add", "jq"],
		["zypper", "in", "jq"], ["snap", "install", "jq"],
	] {
		_packages([call(words[0], [], array.slice(words, 1, 3))]).rules == {"command.writes_system"}
	}
	every words in [["apt", "list", "jq"], ["apt-get", "update", "-q"], ["dnf", "search", "jq"], ["brew", "install", "jq"]] {
		_packages([call(words[0], [], array.slice(words, 1, 3))]).rules == set()
	}
}
