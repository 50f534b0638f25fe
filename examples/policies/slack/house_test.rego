package slack_test

import data.bailiff.decision
import data.bailiff_test.call
import data.bailiff_test.request
import data.bailiff_test.rules
import data.bailiff_test.wanting

# What is decided in a channel of Slack about one call.
decided(channel, program, words) := answer if {
	asked := object.union(
		wanting(request("slack", [call(program, [], words)]), ["DEPLOY_TOKEN", "GITHUB_TOKEN"]),
		{"session": {"chat_type": "channel", "chat_id": channel, "user_id": "U07A"}},
	)
	answer := decision with input as asked
}

test_the_bot_answers_in_slack_only if {
	every platform in ["telegram", "discord", "matrix"] {
		answer := decision with input as request(platform, [call("ls", [], [])])
		rules(answer) == {"company.platform"}
	}
	decided("C0ANY", "ls", []).outcome == "allow"
}

test_a_channel_deploys_what_is_its_own if {
	answer := decided("C0SHOP", "deploy", ["staging"])
	answer.outcome == "ask"
	answer.approval.quorum == 1
	"company.deploys_elsewhere" in rules(decided("C0SHOP", "deploy", ["production"]))
	"company.deploys_elsewhere" in rules(decided("C0ANY", "deploy", ["staging"]))
	"company.deploys_elsewhere" in rules(decided("C0DEPLOY", "deploy", []))
}

test_production_takes_two_people_each_time if {
	answer := decided("C0DEPLOY", "deploy", ["production"])
	answer.outcome == "ask"
	answer.approval.quorum == 2
	answer.approval.scopes == ["once"]
}

test_the_token_of_deployments_is_for_deploy_alone_and_leaves_nothing_behind if {
	answer := decided("C0DEPLOY", "deploy", ["staging"])
	answer.env.forward == ["DEPLOY_TOKEN"]
	answer.env.sealed == ["DEPLOY_TOKEN"]
	decided("C0DEPLOY", "git", ["push"]).env.forward == ["GITHUB_TOKEN"]
	decided("C0DEPLOY", "env", []).env.forward == []
}

test_where_guests_read_along_nothing_enters_and_everything_is_asked if {
	answer := decided("C0PARTNER", "git", ["push"])
	answer.outcome == "ask"
	rules(answer) == {"company.guests"}
	answer.env.forward == []
}

test_a_forced_push_is_asked_about if {
	asked := request("slack", [call("git", ["--force"], ["push"])])
	answer := decision with input as asked
	rules(answer) == {"command.rewrites_history"}
	answer.outcome == "ask"
}

test_the_channel_of_data_has_an_image_of_its_own if {
	decided("C0DATA", "python3", ["report.py"]).backend.image == "python:3.13"
	decided("C0ANY", "python3", ["report.py"]).backend.image == ""
}
