package bailiff_test

test_uploads_are_a_question_unless_they_stay_here if {
	_going([reading("curl", "notes.txt")], "x.test") == {"command.sends_files"}
	_going([reading("curl", "notes.txt")], "localhost") == set()
	_going([call("curl", [], ["https://x.test"])], "x.test") == set()
}

test_uploads_are_named_by_the_call if {
	_told_with([object.union(call("curl", ["-T"], ["a.txt", "https://x.test"]), {"reads": ["a.txt"]})], {"hosts": ["x.test"]}) == {
		"command.sends_files: curl -T a.txt https://x.test",
	}
	_told_with([object.union(call("curl", ["-T"], ["a.txt", "http://localhost"]), {"reads": ["a.txt"]})], {"hosts": ["localhost"]}) == set()
	_told_with(
		[object.union(call("curl", ["--cacert"], ["ca.pem", "https://x.test"]), {"reads": ["ca.pem"]})],
		{"hosts": ["x.test"]},
	) == set()
	_told_with([call("curl", ["-F"], ["f=<a.txt", "https://x.test"])], {"hosts": ["x.test"]}) == {
		"command.sends_files: curl -F f=<a.txt https://x.test",
	}
	_told_with([call("curl", ["--data-urlencode"], ["f@a.txt", "https://x.test"])], {"hosts": ["x.test"]}) == {
		"command.sends_files: curl --data-urlencode f@a.txt https://x.test",
	}
	_told_with([call("curl", ["-d"], ["a=1", "https://x.test"])], {"hosts": ["x.test"]}) == set()
	data.bailiff._configuring(call("curl", ["--cacert"], ["ca.pem", "https://x.test"])) == {"ca.pem"}
	[option |
		some option in ["-F", "POST", "PUT", "post", "--form"]
		data.bailiff._following(option) == 2
	] == [
		"POST",
		"PUT",
		"post",
	]
	[option |
		some option in ["-F", "--form", "-d", "POST"]
		data.bailiff._names_a_file(option, "f=<a")
	] == [
		"-F",
		"--form",
	]
}
