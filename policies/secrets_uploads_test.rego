package bailiff_test

# What is found of uploads.
_uploads(calls, facts) := _told_of(found) if {
	found := data.bailiff._examined.uploads with input as _text_with(calls, facts)
}

test_uploads_are_a_question_unless_they_stay_here if {
	_uploads([reading("curl", "notes.txt")], {"hosts": ["x.test"]}).rules == {"command.sends_files"}
	_uploads([reading("curl", "notes.txt")], {"hosts": ["localhost"]}).rules == set()
	_uploads([call("curl", [], ["https://x.test"])], {"hosts": ["x.test"]}).rules == set()
}

test_uploads_are_named_by_the_call if {
	_uploads([object.union(call("curl", ["-T"], ["a.txt", "https://x.test"]), {"reads": ["a.txt"]})], {"hosts": ["x.test"]}).told == {
		"command.sends_files: curl -T a.txt https://x.test",
	}
	_uploads(
		[object.union(call("curl", ["-T"], ["a.txt", "http://localhost"]), {"reads": ["a.txt"]})],
		{"hosts": ["localhost"]},
	).told == set()
	_uploads(
		[object.union(call("curl", ["--cacert"], ["ca.pem", "https://x.test"]), {"reads": ["ca.pem"]})],
		{"hosts": ["x.test"]},
	).told == set()
	_uploads([call("curl", ["-F"], ["f=<a.txt", "https://x.test"])], {"hosts": ["x.test"]}).told == {
		"command.sends_files: curl -F f=<a.txt https://x.test",
	}
	_uploads([call("curl", ["--data-urlencode"], ["f@a.txt", "https://x.test"])], {"hosts": ["x.test"]}).told == {
		"command.sends_files: curl --data-urlencode f@a.txt https://x.test",
	}
	_uploads([call("curl", ["-d"], ["a=1", "https://x.test"])], {"hosts": ["x.test"]}).told == set()
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
