package bailiff_test

import data.agent.call as agent_call

_worded_once := "It deletes (a.b). The policies do not say why. Instead: Move it."

_said := [
	{"rule": "a.b", "message": "It deletes.", "match": "x", "instead": "Move it."},
	{"rule": "a.b", "message": "It deletes.", "match": "y", "instead": "Move it."},
	{"rule": "a.c", "message": "By ana.", "instead": "Ask ana.", "hidden": true},
]

test_no_more_is_said_than_there_is if {
	judged := {"outcome": "deny", "denials": [{"rule": "a.b", "message": "It deletes."}]}
	answer := agent_call._in_words(judged) with input as _git_status
	answer.reason == "It deletes (a.b)."
}

test_reasons_are_said_once_and_in_order if {
	agent_call._sentences([{"rule": "a.b", "message": "It deletes."}]) == "It deletes (a.b)."
	agent_call._sentences([
		{"rule": "b.c", "message": "It sends."},
		{"rule": "a.b", "message": "It deletes."},
	]) == "It deletes (a.b). It sends (b.c)."
	agent_call._sentences([{"rule": "a.b", "message": "It deletes."}, {"rule": "a.b", "message": "It deletes."}]) == "It deletes (a.b)."
	agent_call._sentences([]) == ""
}

test_offers_are_said_once_and_hidden_ones_never if {
	agent_call._offers([{"instead": "Move it."}, {"instead": "Move it."}]) == ["Instead:", "Move it."]
	agent_call._offers([{"instead": "Move it."}, {"instead": "Ask ana.", "hidden": true}]) == ["Instead:", "Move it."]
	agent_call._offers([{"instead": ""}]) == []
	agent_call._offers([]) == []
}
