package regulated_test

import data.bailiff.decision
import data.bailiff_test.call
import data.bailiff_test.program
import data.bailiff_test.request
import data.bailiff_test.rules
import data.bailiff_test.wanting
import data.bailiff_test.writing

decided(asked) := answer if answer := decision with input as asked

reading := request("slack", [call("grep", ["-r"], ["total", "."]), call("wc", ["-l"], [])])

test_what_only_reads_runs_at_once if {
	decided(reading).outcome == "allow"
}

test_what_is_on_no_list_does_not_run if {
	every name in ["python3", "curl", "deploy", "bash"] {
		"regulated.program" in rules(decided(request("slack", [call(name, [], ["x"])])))
	}
	"regulated.import" in rules(decided(program("slack", {"imports": ["json", "socket"]})))
}

test_what_hides_its_meaning_does_not_run if {
	"regulated.hides_meaning" in rules(decided(object.union(reading, {"command": {"complete": false}})))
	"regulated.hides_meaning" in rules(decided(program("slack", {"complete": false})))
}

test_whatever_writes_is_read_by_two_people_each_time if {
	every asked in [request("slack", [writing("tee", [], "report.csv")]), program("slack", {"imports": ["csv"]})] {
		answer := decided(asked)
		answer.outcome == "ask"
		rules(answer) == {"regulated.two_people"}
		answer.approval.quorum == 2
		answer.approval.scopes == ["once"]
	}
}

test_what_is_dangerous_on_a_host_is_denied_in_a_sandbox_too if {
	"command.rewrites_history" in rules(decided(request("slack", [call("git", ["--force"], ["push"])])))
}

test_no_token_enters if {
	answer := decided(wanting(request("slack", [call("git", [], ["push"])]), ["GITHUB_TOKEN", "TZ"]))
	answer.env.forward == ["TZ"]
	answer.env.withheld == [{"name": "GITHUB_TOKEN", "rule": "regulated.variable"}]
}

test_nothing_runs_unwatched if {
	"regulated.background" in rules(decided(object.union(reading, {"args": {"background": true}})))
	"regulated.unattended" in rules(decided(object.union(reading, {"session": {"unattended": true}})))
}

test_a_sandbox_reaches_nothing_and_is_gone_in_half_an_hour if {
	answer := decided(reading)
	answer.backend.network == "none"
	answer.backend.max_seconds == 1800
	answer.limits == {"timeout_seconds": 120, "output_bytes": 20000, "background_seconds": 0, "processes": 16}
}
