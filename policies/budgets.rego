package bailiff

# METADATA
# title: Budgets
# description: |
#   A row of the table budgets holds for a request that all of the row's roles, platforms, chats and users name. The enforcer counts
#   what is used of it, for each user, chat or platform apart or for all together, and the row's verdict follows once nothing is left.
#   A look at what runs in the background counts for nothing, and what is handed to it does.
_budgets_held contains name if {
	some name, row in data.bailiff.tables.budgets
	_is_counted
	every kind in object.keys(row) & {"roles", "platforms", "chats", "users"} {
		_is_of_budget(kind, row[kind])
	}
}

_is_counted if input.tool != "process"

_is_counted if input.args.action in {"write", "submit"}

_is_of_budget("roles", names) if {
	some name in names
	_roles_held[name]
}

_is_of_budget("platforms", names) if input.session.platform in names

_is_of_budget("chats", names) if {
	input.session.platform != "cli"
	concat("/", [input.session.platform, input.session.chat_id]) in names
}

_is_of_budget("users", names) if {
	input.session.platform != "cli"
	concat("/", [input.session.platform, input.session.user_id]) in names
}

# The terms of the budgets that hold, with what is left of each.
_budgets := [term |
	some name in sort(_budgets_held)
	row := data.bailiff.tables.budgets[name]
	per := object.get(row, "per", "user")
	term := {
		"name": name,
		"per": per,
		"count": row.count,
		"window": row.window,
		"most": row.most,
		"left": _left_of(row.most, per, name),
	}
]

_left_of(most, per, name) := 0 if {
	per in input.budgets.unknown
} else := max([0, most - used]) if {
	used := input.budgets.used[per][name]
} else := most

_budgeted := {} if {
	_budgets_held == set()
} else := {"budgets": _budgets}

# METADATA
# title: Budgets that are used up
# description: |
#   Denies, or asks about, what a budget has nothing left for. Where questions are counted the enforcer asks no more of them: what a
#   grant covers still runs.
deny contains _used_up(term) if {
	some term in _budgets_used_up
	term.count != "questions"
	object.get(data.bailiff.tables.budgets[term.name], "verdict", "deny") != "ask"
}

require_approval contains _used_up(term) if {
	some term in _budgets_used_up
	term.count != "questions"
	data.bailiff.tables.budgets[term.name].verdict == "ask"
}

_budgets_used_up contains term if {
	_budgets_held != set()
	some term in _budgets
	term.left == 0
}

_used_up(term) := {
	"rule": "budget.used_up",
	"message": sprintf("Of the budget %s, %d %s %s %s, 0 are left. It begins anew %s.", [
		term.name, term.most, _in_budget_words[term.count], _in_budget_words[term.window], _in_budget_words[term.per],
		_renewal[term.window],
	]),
	"match": term.name,
}

_in_budget_words := {
	"requests": "requests",
	"run_seconds": "seconds",
	"questions": "questions",
	"upload_mb": "MB sent",
	"minute": "a minute",
	"hour": "an hour",
	"day": "a day",
	"user": "for each user",
	"chat": "for each chat",
	"platform": "for each platform",
	"all": "for all together",
}

_renewal := {"minute": "with the next minute", "hour": "with the next hour", "day": "at midnight UTC"}
