package home_test

import data.bailiff.decision
import data.bailiff_test.call
import data.bailiff_test.program
import data.bailiff_test.request
import data.bailiff_test.rules
import data.bailiff_test.wanting

from(user, asked) := object.union(asked, {"session": {"chat_type": "dm", "chat_id": user, "user_id": user}})

decided(asked) := answer if answer := decision with input as asked

hass(words) := wanting(request("telegram", [call("hass-cli", [], words)]), ["HASS_TOKEN"])

lamp := hass(["service", "call", "light.turn_on"])

door := hass(["service", "call", "lock.unlock"])

test_the_family_may_ask_and_strangers_may_not if {
	decided(from("4201", request("telegram", [call("ls", [], [])]))).outcome == "allow"
	every platform in ["telegram", "signal", "discord"] {
		rules(decided(from("666", request(platform, [call("ls", [], [])])))) == {"home.stranger"}
	}
}

test_a_child_switches_lamps_and_installs_nothing if {
	decided(from("4203", lamp)).outcome == "allow"
	rules(decided(from("4203", request("telegram", [call("pip", [], ["install", "x"])])))) == {"home.child"}
}

test_a_child_runs_no_programs_and_nothing_unclear if {
	"home.child" in rules(decided(from("4203", program("telegram", {}))))
	unclear := object.union(from("4203", lamp), {"command": {"complete": false}})
	"home.child" in rules(decided(unclear))
}

test_nothing_opens_the_house_without_a_yes_each_time if {
	every user in ["4201", "4203"] {
		answer := decided(from(user, door))
		answer.outcome == "ask"
		answer.approval.scopes == ["once"]
		answer.approval.timeout_seconds == 120
	}
}

test_the_token_of_the_house_is_for_its_client_alone_and_never_in_groups if {
	answer := decided(from("4201", lamp))
	answer.env.forward == ["HASS_TOKEN"]
	answer.env.sealed == ["HASS_TOKEN"]
	decided(from("4201", wanting(request("telegram", [call("curl", [], ["x"])]), ["HASS_TOKEN"]))).env.forward == []
	group := object.union(from("4201", lamp), {"session": {"chat_type": "group"}})
	decided(group).env.withheld == [{"name": "HASS_TOKEN", "rule": "home.group"}]
}

test_what_hides_its_meaning_is_asked_about if {
	unclear := object.union(from("4201", lamp), {"command": {"complete": false}})
	decided(unclear).outcome == "ask"
}
