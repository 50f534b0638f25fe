package bailiff

# METADATA
# title: What words may start
# description: |
#   A program that nothing describes may start the program that its words name, or not. So
#   the words are judged like any text, and are asked about at most. A name alone says
#   little: "mount", "docker" and "passwd" are subcommands of many programs.
require_approval contains finding if some finding in _supposed_findings

_supposed_findings contains object.union(finding, {"rule": finding.rule, "message": _supposed_message(finding)}) if {
	_command.supposed
	found := findings with input.tool as "terminal" with input.args as {} with input.command as _command.supposed
	named := _found_by_name with input.tool as "terminal" with input.args as {} with input.command as _command.supposed
	some finding in (found - {finding | some [finding, class, call] in named; not _told_by_name(class, call)})
	not finding in findings
	not _verdict_on(finding) == "allow"
	not data.bailiff.tables.told_only[finding.rule]
}

_told_by_name(class, _) if data.bailiff.tables.told_by_name[class]

_told_by_name(_, call) if {
	some other in _calls
	some at, "--" in other.argv
	other.argv[at + 1] == call.argv[0]
}

_supposed_message(finding) := sprintf(
	"%s That holds if %s: no table says what %s does with its words.",
	[finding.message, concat(", and ", starts), concat(" and ", starters)],
) if {
	starts := {sprintf("%s starts %s", [starter, call.program]) | some [starter, call] in _supposed_starts}
	starters := {starter | some [starter, _] in _supposed_starts}
}

# The outermost supposed calls: no wrapper of theirs is supposed itself.
_supposed_starts contains [starter, call] if {
	some call in _command.supposed.calls
	starter := call.wrappers[count(call.wrappers) - 1]
	not starter in _command.supposed.programs
}
