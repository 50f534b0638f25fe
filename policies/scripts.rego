# What small languages do to files.
#
# Scripts of awk, sed and find, and commands of an editor, name files and programs
# that no option shows.

package bailiff

examined.awks contains found(class, path) if {
	some call in calls_of.awks
	some word in call.argv
	some path in quoted_after(`[<>]\s*"([^"]+)"`, word)
	some class in (classes_of("writes", path) | classes_of("reads", path))
}

examined.seds contains found(class, path) if {
	some call in calls_of.seds
	some word in call.argv
	some path in quoted_after(`[wr]\s+([/~][^\s;}]+)`, word)
	some class in classes_of("writes", path)
}

# The flag "e" of a substitution runs what it made.
examined.seds contains found("inline", spelt(call)) if {
	some call in calls_of.seds
	some word in call.argv
	regex.match(`^s[^\w\s].*[^\w\s][gpIiMm0-9]*e[gpIiMm0-9]*$`, word)
}

examined.searches contains found(class, path) if {
	some call in calls_of.searches
	some position, action in call.argv
	action in {"-fprint", "-fprint0", "-fprintf", "-fls"}
	path := call.argv[position + 1]
	some class in classes_of("writes", path)
}

examined.editors contains found("inline", spelt(call)) if {
	some call in calls_of.editors
	some word in call.argv
	regex.match(`^(\+:?|:)?\s*!|^(\+:?|:)\s*(py|lua|perl|ruby|tcl|call system)`, word)
}

# A command of an editor that writes a file of its own choice.
examined.editors contains found(class, path) if {
	some call in calls_of.editors
	some word in call.argv
	some path in quoted_after(`^\+?:?\s*(?:wq?|x|sav|saveas)!?\s+([/~][^\s|]+)`, word)
	some class in classes_of("writes", path)
}

examined.awks contains found("inline", spelt(call)) if {
	some call in calls_of.awks
	some word in call.argv
	regex.match(`\(\s*"[^"]*"\s*\)\s*\|&?\s*getline`, word)
}

# The pager's own commands are given after "+".
examined.pagers contains found("inline", spelt(call)) if {
	some call in calls_of.pagers
	some word in call.argv
	regex.match(`^\+{1,2}\s*[!|]`, word)
}

# Arithmetic and names of array elements are expanded once more by the builtins
# that take them: a[$(command)] runs the command.
examined.evaluates contains found("hidden", "") if {
	some call in calls_of.evaluates
	some word in array.slice(call.argv, 1, count(call.argv))
	regex.match("\\[[^\\]]*(\\$\\([^…]|`)", word)
}

findings contains found("hidden", "") if {
	"PS4" in command.assigns
	regex.match("PS4=.{0,3}[^;\\n]*(\\$\\(|`)", command.text)
}

quoted_after(pattern, word) := {groups[1] | some groups in regex.find_all_string_submatch_n(pattern, word, 20)}
