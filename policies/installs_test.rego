package bailiff_test

test_packages_from_an_address_are_downloads if {
	every installer in [
		call("pip", [], ["install", "https://x.test/a.whl"]), call("pip", [], ["install", "git+https://x.test/a"]),
		call("pip", [], ["install", "a @ git+https://x.test/a"]), call("npm", [], ["i", "github:a/b"]),
		call("yarn", [], ["add", "git@x.test:a/b"]), call("uv", [], ["pip", "install", "git+https://x.test/a"]),
		call("python3", ["-m"], ["pip", "install", "https://x.test/a.whl"]),
	] {
		_found([installer]) == {"command.runs_downloaded"}
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
		_found([installer]) == set()
	}
}

test_packages_that_are_run_from_an_address_are_downloads if {
	every launcher in [
		call("npx", [], ["https://x.test/a.tgz"]), call("npx", ["-p", "github:a/b"], ["tool"]),
		call("npx", ["--package=git+https://x.test/a"], ["tool"]), call("pnpm", [], ["dlx", "https://x.test/a.tgz"]),
		call("uv", [], ["tool", "run", "--from", "git+https://x.test/a", "a"]), call("deno", [], ["run", "https://x.test/a.ts"]),
	] {
		_found([launcher]) == {"command.runs_downloaded"}
	}
	every launcher in [
		call("npx", [], ["lighthouse", "https://x.test"]), call("pnpm", [], ["dlx", "tool", "https://x.test"]),
		call("deno", [], ["run", "a.ts", "https://x.test"]), call("deno", [], ["fmt", "https://x.test"]),
	] {
		_found([launcher]) == set()
	}
}

test_packages_of_the_project_are_ordinary if {
	_found([call("npm", [], ["uninstall", "lodash"])]) == set()
	_found([call("npm", ["-g"], ["uninstall", "lodash"])]) == {"command.removes_packages"}
}

test_packages_are_found_with_the_whole_call if {
	_told([call("pip", [], ["install", "git+https://x.test/a"])]) == {
		"command.runs_downloaded: pip install git+https://x.test/a",
	}
	_told([call("npm", [], ["i", "github:a/b"])]) == {"command.runs_downloaded: npm i github:a/b"}
	_told([call("pip", [], ["install", "requests"])]) == set()
	_told([call("python3", ["-m"], ["pip", "install", "https://x.test/a.whl"])]) == {
		"command.runs_downloaded: python3 -m pip install https://x.test/a.whl",
	}
	_told([call("python3", ["-m"], ["pip", "uninstall", "jq"])]) == {
		"command.removes_packages: python3 -m pip uninstall jq",
	}
	_told([call("npm", ["-g"], ["rm", "jq"])]) == {"command.removes_packages: npm -g rm jq"}
	_told([call("apt", [], ["remove", "jq"])]) == {"command.removes_packages: apt remove jq"}
}

test_packages_from_files_are_found if {
	_told([call("rpm", ["-i", "-v"], ["a.rpm"])]) == {"command.writes_system: rpm -i -v a.rpm"}
	_told([call("rpm", ["-q", "-i"], ["bash"])]) == set()
	_told([call("pacman", ["-U"], ["a.zst"])]) == {"command.writes_system: pacman -U a.zst"}
	_told([call("pacman", ["-S"], ["jq"])]) == set()
	_told([call("dnf", [], ["localinstall", "a.rpm"])]) == {"command.writes_system: dnf localinstall a.rpm"}
	_told([call("yum", [], ["install", "https://x.test/a.rpm"])]) == {
		"command.runs_downloaded: yum install https://x.test/a.rpm",
	}
	_told([call("yum", [], ["install", "jq"])]) == set()
	_told([call("dpkg", ["--unpack"], ["a"])]) == {"command.writes_system: dpkg --unpack a"}
	_told([call("rpm", ["-U", "--test"], ["a.rpm"])]) == set()
}

test_a_package_file_is_told_by_its_ending if {
	every words in [
		["dnf", "install", "./a.rpm"], ["dnf5", "up", "a.rpm"], ["apt", "install", "./a.deb"], ["gdebi", "a.deb"],
		["apk", "add", "a.apk"], ["urpmi", "a.rpm"], ["flatpak", "install", "a.flatpak"],
	] {
		_found([call(words[0], [], array.slice(words, 1, 3))]) == {"command.writes_system"}
	}
	_found([call("dnf", ["--repo"], ["x", "install", "a.rpm"])]) == {"command.writes_system"}
	every words in [
		["dnf", "install", "jq"], ["apt", "install", "jq"], ["apt", "show", "a.deb"], ["urpmi", "jq"], ["apk", "info", "a.apk"],
		["dnf", "download", "a.rpm"],
	] {
		_found([call(words[0], [], array.slice(words, 1, 3))]) == set()
	}
}
