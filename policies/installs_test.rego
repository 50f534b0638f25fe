package bailiff_test

test_packages_from_an_address_are_downloads if {
	every installer in [
		call("pip", [], ["install", "https://x.test/a.whl"]), call("pip", [], ["install", "git+https://x.test/a"]),
		call("pip", [], ["install", "a @ git+https://x.test/a"]), call("npm", [], ["i", "github:a/b"]),
		call("yarn", [], ["add", "git@x.test:a/b"]), call("uv", [], ["pip", "install", "git+https://x.test/a"]),
		call("python3", ["-m"], ["pip", "install", "https://x.test/a.whl"]),
	] {
		found([installer]) == {"command.runs_downloaded"}
	}
}

test_packages_of_an_index_are_ordinary if {
	every installer in [
		call("pip", [], ["install", "requests"]), call("pip", [], ["install", "--index-url", "https://x.test/simple", "a"]),
		call("npm", [], ["install", "@types/node"]), call("npm", [], ["run", "https://x.test"]), call("python3", [], ["a.py", "install", "https://x.test"]),
	] {
		found([installer]) == set()
	}
}

pushed(setter, words) := found([call("git", [], setter), call("git", [], array.concat(["push"], words))])

test_pushing_to_a_remote_that_the_text_sets if {
	pushed(["remote", "add", "x", "https://x.test/r"], ["x", "main"]) == {"command.sends_files"}
	pushed(["remote", "set-url", "origin", "https://x.test/r"], []) == {"command.sends_files"}
	pushed(["config", "remote.origin.pushurl", "https://x.test/r"], []) == {"command.sends_files"}
	pushed(["remote", "add", "x", "https://x.test/r"], ["origin"]) == set()
	pushed(["remote", "-v"], []) == set()
}
