package bailiff_test

_budget_row := {"count": "requests", "most": 3, "window": "day"}

_budget_asker := object.union(request("slack", [call("ls", [], [])]), {"session": {"user_id": "U1", "chat_id": "C1"}})

# A request, after what was used of budgets.
_after_use(per, used) := object.union(_budget_asker, {"budgets": {"used": {per: used}, "unknown": []}})

# What is left of each budget that holds, and which are used up.
_left(rows, asked) := {b.name: b.left | some b in held} if {
	held := data.bailiff._budgets with input as asked with data.bailiff.tables.budgets as rows
}

_used_up(rows, asked) := {b.name | some b in used_up} if {
	used_up := data.bailiff._budgets_used_up with input as asked with data.bailiff.tables.budgets as rows
}

test_a_budget_says_what_is_left if {
	_left({}, _budget_asker) == {}
	_left({"few": _budget_row}, _budget_asker) == {"few": 3}
	_left({"few": _budget_row}, _after_use("user", {"few": 2})) == {"few": 1}
	_used_up({"few": _budget_row}, _after_use("user", {"few": 2})) == set()
	_used_up({"few": _budget_row}, _after_use("user", {"few": 7})) == {"few"}
}

test_a_used_up_budget_denies_or_asks_and_says_when_it_renews if {
	spent := _after_use("user", {"few": 3})
	denied := by({"budgets": {"few": _budget_row}}, spent)
	denied.outcome == "deny"
	some reason in denied.denials
	reason.rule == "budget.used_up"
	contains(reason.message, "3 requests a day for each user, 0 are left. It begins anew at midnight UTC.")
	asked := by({"budgets": {"few": object.union(_budget_row, {"verdict": "ask"})}}, spent)
	[asked.outcome, asked.budgets[0].left] == ["ask", 0]
}

test_a_budget_with_something_left_changes_nothing_but_is_told if {
	told := by({"budgets": {"few": _budget_row}}, _budget_asker)
	told.budgets == [object.union(_budget_row, {"name": "few", "per": "user", "left": 3})]
	object.remove(told, ["budgets"]) == by({}, _budget_asker)
}

test_a_counter_is_the_one_of_its_kind_and_name if {
	_left({"few": _budget_row}, _after_use("user", {"other": 9})) == {"few": 3}
	_left({"few": _budget_row}, _after_use("chat", {"few": 9})) == {"few": 3}
	_left({"few": object.union(_budget_row, {"per": "chat"})}, _after_use("chat", {"few": 3})) == {"few": 0}
}

test_a_damaged_counter_is_used_up if {
	damaged := object.union(_budget_asker, {"budgets": {"used": {}, "unknown": ["user"]}})
	_left({"few": _budget_row}, damaged) == {"few": 0}
	_left({"few": object.union(_budget_row, {"per": "all"})}, damaged) == {"few": 3}
}

# Whether a row with such lists holds for the request.
_held(lists) if "few" in object.keys(_left({"few": object.union(_budget_row, lists)}, _budget_asker))

test_a_row_holds_for_whom_all_its_lists_name if {
	_held({"platforms": ["telegram", "slack"]})
	_held({"users": ["slack/U1"], "chats": ["slack/C1"]})
	not _held({"platforms": ["telegram"]})
	not _held({"users": ["slack/U1"], "platforms": ["telegram"]})
	not _held({"users": ["slack/U2"]})
	not _held({"chats": ["slack/C2"]})
	not _held({"roles": ["guest"]})
}

test_a_row_of_a_role_holds_for_who_has_it if {
	_held({"roles": ["guest"]}) with data.bailiff.tables.roles as {"guest": {"others": true}}
	not _held({"roles": ["guest"]}) with data.bailiff.tables.roles as {"guest": {"people": ["ana"]}}
}

test_looks_at_a_process_count_for_nothing if {
	_left({"few": _budget_row}, _at_process("poll")) == {}
	_left({"few": _budget_row}, _at_process("write")) == {"few": 3}
}

_at_process(action) := object.union(_budget_asker, {"tool": "process", "args": {"action": action}})
