package bailiff_test

# What a table says to the model of a request.
_advised(asked) := notes if {
	notes := data.bailiff._notes with input as asked
		with data.bailiff.tables.advise as {"npm": "This repository uses pnpm."}
		with data.bailiff.tables.budgets as {}
}

test_a_program_of_the_table_is_answered_with_a_note if {
	_advised(request("cli", [call("npm", [], ["ls"])])) == {"advise": [{
		"rule": "advise.program",
		"message": "This repository uses pnpm.",
	}]}
}

test_other_programs_have_no_note if _advised(request("cli", [call("pnpm", [], ["ls"])])) == {}

test_a_denial_has_no_note if {
	answer := by({}, request("elsewhere", [call("npm", [], ["ls"])]))
		with data.bailiff.tables.advise as {"npm": "This repository uses pnpm."}
	answer.outcome == "deny"
	not answer.advise
}
