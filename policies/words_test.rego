package bailiff_test

_aspects_of(calls) := aspects - {"calls"} if {
	aspects := data.bailiff._aspects with input as request("cli", calls)
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.house as _usual_tables.house
}

test_rules_look_at_words_where_a_part_of_one_tells_something if {
	every word, aspects in {
		"--dataLoss": {"loss_words"}, "--data": set(), "--accept-dataloss=x/y": {"loss_words"},
		"-purgeAll": {"loss_words", "clearing_words"},
		"db:reset": {"loss_words"}, "db/reset": set(), "--no-mask": {"secret_words"},
		"--lua-filter": {"loading_words"}, "-safemode": {"loss_words"},
		"a.purge": set(), "!x": {"bangs"},
	} {
		_aspects_of([call("cat", [word], [])]) == aspects
	}
}

test_words_of_one_call_are_none_of_the_next if {
	_aspects_of([call("cat", ["--data"], []), call("cat", [], ["loss"])]) == {"loss_words"}
	_aspects_of([call("cat", [], ["purge.txt"]), call("cat", [], ["x"])]) == set()
}

test_every_rule_is_asked_by_each_word_of_its_tables if {
	every word in ["obliterate", "lossy", "decommission", "guardrail", "recreate", "unlock"] {
		"loss_words" in data.bailiff._aspects_of_parts[word]
	}
}

test_a_word_that_looks_like_a_path_is_looked_for_everywhere if {
	"loss_words" in data.bailiff._aspects with input as request("cli", [call("cat", ["x"], [])])
		with data.bailiff.tables.loss_words.ends as {"drop.all": true}
}
