package slack_test

import data.bailiff.connection
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

_swapped(program, words, name) := answer.env.swap if {
	asked := object.union(wanting(request("slack", [call(program, [], words)]), [name]), {"session": {"chat_id": "C0ANY"}})
	answer := decision with input as asked
}

test_of_the_tokens_of_services_what_stands_for_them_enters if {
	_swapped("git", ["push"], "GH_ENTERPRISE_TOKEN")[0].hosts == ["git.acme.example"]
	_swapped("npm", ["publish"], "ACME_NPM_TOKEN")[0].hosts == ["npm.acme.example"]
	_swapped("date", [], "OPENAI_API_KEY") == [{"name": "OPENAI_API_KEY", "hosts": ["api.openai.com"], "in": ["authorization"]}]
	_swapped("date", [], "ANTHROPIC_API_KEY")[0]["in"] == ["x-api-key"]
}

_outcome(host, method, path) := answer.outcome if {
	answer := connection with input as {
		"tool": "connection",
		"caller": {"name": "test"},
		"session": {"id": "s", "platform": "slack", "unattended": false},
		"backend": {"name": "docker"},
		"time": "2026-11-21T12:00:00Z",
		"request": {"decision_id": "d", "tool": "terminal", "egress": ["git.acme.example", "npm.acme.example", "api.openai.com"]},
		"connection": {
			"protocol": "https", "via": "connect", "host": host, "domain": host, "port": 443, "is_address": false,
			"intercepted": true, "method": method, "path": path, "secrets": [],
		},
	}
}

test_what_is_the_companys_may_be_written_to if {
	_outcome("git.acme.example", "POST", "/shop/web/git-receive-pack") == "allow"
	_outcome("git.acme.example", "POST", "/other/web/git-receive-pack") == "deny"
	_outcome("git.acme.example", "GET", "/other/web/info/refs") == "allow"
	_outcome("npm.acme.example", "PUT", "/shop") == "allow"
	_outcome("api.openai.com", "POST", "/v1/responses") == "allow"
	_outcome("api.openai.com", "DELETE", "/v1/files/1") == "deny"
	_outcome("new.example", "GET", "/") == "ask"
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
