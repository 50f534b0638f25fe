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
examined.seds contains found("inline", word) if {
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

examined.editors contains found("inline", word) if {
	some call in calls_of.editors
	some word in call.argv
	regex.match(`^(\+:?|:)?\s*!|^(\+:?|:)\s*(py|lua|perl|ruby|tcl|call system)`, word)
}

quoted_after(pattern, word) := {groups[1] | some groups in regex.find_all_string_submatch_n(pattern, word, 20)}
