package bailiff

# METADATA
# title: Roles of people
# description: |
#   Who asks is held to the rows of the table roles that name the person, the account, a group of the person's or the chat, and else to
#   those for others. Each is held to as the rows of agents are, so that the strictest counts, and may keep a platform away besides.
#   Without a row for who asks all is as without the table. On the command line a user and a chat are what the client says, which
#   gives no role.
_role_rows contains data.bailiff.tables.roles[name] if some name, _ in _roles_held

# The roles of who asks, each with what gives it.
_roles_held := _roles_named if {
	count(_roles_named) > 0
} else := {name: {"others"} | some name, row in data.bailiff.tables.roles; row.others == true}

_roles_named[name] contains concat(" ", ["person", person]) if {
	some name, row in data.bailiff.tables.roles
	person := input.requester.person
	person in row.people
}

_roles_named[name] contains concat(" ", ["user", account]) if {
	input.session.platform != "cli"
	some name, row in data.bailiff.tables.roles
	account := concat("/", [input.session.platform, input.session.user_id])
	account in row.users
}

_roles_named[name] contains concat(" ", ["chat", chat]) if {
	input.session.platform != "cli"
	some name, row in data.bailiff.tables.roles
	chat := concat("/", [input.session.platform, input.session.chat_id])
	chat in row.chats
}

_roles_named[name] contains concat(" ", ["group", group]) if {
	some name, row in data.bailiff.tables.roles
	some group in input.requester.groups
	group in row.groups
}

# METADATA
# title: What no role of the requester allows
# description: |
#   Denies a request by a platform that a role does not have, and one for which a role leaves no backend.
_faults contains {
	"rule": "role.platform",
	"message": sprintf("The role %s may not ask by platform %s.", [name, input.session.platform]),
	"match": name,
} if {
	some name, _ in _roles_held
	row := data.bailiff.tables.roles[name]
	row.platforms
	not input.session.platform in row.platforms
}

_faults contains {
	"rule": "role.backend",
	"message": sprintf("The role %s leaves no backend for this: it may use %s.", [name, _in_words_or_none(row.backends)]),
	"match": name,
} if {
	_lacks_backend
	some name, _ in _roles_held
	row := data.bailiff.tables.roles[name]
	row.backends
}

_lacks_backend if _chosen == ""

_lacks_backend if {
	_wish != ""
	_kept_away(_wish)
	_isolation_optional
}

_in_words_or_none(names) := concat(", ", sort(names)) if {
	count(names) > 0
} else := "none"
