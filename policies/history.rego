# What git would lose or rewrite.
#
# Commits, branches, merges and pushes of a branch are ordinary work. What discards
# uncommitted work, or history that others may have, is not.

package bailiff

examined.versions contains found("history", spelt(call)) if {
	some call in calls_of.versions
	rewrites(call.operands[0], {flag | some flag in call.flags}, call)
}

rewrites("push", flags, _) if count(flags & {"-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "-d", "--prune"}) > 0

rewrites("push", _, call) if {
	some refspec in array.slice(call.operands, 1, count(call.operands))
	regex.match(`^[+:]`, refspec)
}

rewrites("reset", flags, _) if count(flags & {"--hard", "--merge", "--keep"}) > 0

rewrites("clean", flags, _) if {
	count(flags & {"-f", "--force"}) > 0
	count(flags & {"-n", "--dry-run"}) == 0
}

rewrites("branch", flags, _) if "-D" in flags

rewrites("branch", flags, _) if {
	count(flags & {"-d", "--delete"}) > 0
	count(flags & {"-f", "--force"}) > 0
}

rewrites("checkout", flags, _) if count(flags & {"-f", "--force"}) > 0

rewrites("checkout", _, call) if "." in call.operands

rewrites("restore", flags, call) if {
	"." in call.operands
	not "--staged" in flags
	not "-S" in flags
}

rewrites("worktree", flags, call) if {
	call.operands[1] == "remove"
	count(flags & {"-f", "--force"}) > 0
}

rewrites("rebase", flags, _) if count(flags & {"--abort", "--continue", "--skip", "--quit", "--show-current-patch"}) == 0

rewrites("reflog", _, call) if call.operands[1] in {"expire", "delete"}

rewrites("stash", _, call) if call.operands[1] in {"drop", "clear"}

rewrites("update-ref", flags, _) if "-d" in flags

rewrites("gc", _, call) if "--prune=now" in call.argv

rewrites(command_name, _, _) if command_name in {"filter-branch", "filter-repo"}

# Settings that make git start programs of somebody's choice later on.
examined.versions contains found("startup", spelt(call)) if {
	some call in calls_of.versions
	call.operands[0] == "config"
	count(call.operands) > 2
	key := lower(call.operands[1])
	plants(key)
}

plants(key) if data.bailiff.tables.git_keys[key]

plants(key) if data.bailiff.tables.git_keys[concat("", [split(key, ".")[0], ".*"])]

# Whatever it is called, a setting with such a name holds a program or an address.
plants(key) if {
	parts := split(key, ".")
	data.bailiff.tables.git_program_keys[parts[count(parts) - 1]]
}

# Options and addresses that name a program for git to start at once.
examined.versions contains found("inline", spelt(call)) if {
	some call in calls_of.versions
	some flag in call.flags
	data.bailiff.tables.git_options[call.operands[0]][flag]
}

examined.versions contains found("inline", spelt(call)) if {
	some call in calls_of.versions
	some word in call.argv
	regex.match(`^(--remote=)?ext::`, word)
}

examined.versions contains found("startup", spelt(call)) if {
	some call in calls_of.versions
	some position, "-c" in call.argv
	setting := call.argv[position + 1]
	regex.match(`(?i)^(core\.hookspath|include\.path|includeif\.|init\.templatedir)`, setting)
}

# Settings for one call whose program the text does not show otherwise.
examined.versions contains found("inline", spelt(call)) if {
	some call in calls_of.versions
	some position, "-c" in call.argv
	setting := call.argv[position + 1]
	parts := split(lower(split(setting, "=")[0]), ".")
	data.bailiff.tables.git_program_keys[parts[count(parts) - 1]]
}

examined.versions contains found("inline", spelt(call)) if {
	some call in calls_of.versions
	some word in call.argv
	regex.match(`^--(config-env|exec-path=)`, word)
}

# A push to an address instead of a remote sends the work to a place nobody set up.
examined.versions contains found("sends_files", spelt(call)) if {
	some call in calls_of.versions
	call.operands[0] == "push"
	address := call.operands[1]
	regex.match(`://|^[^/]+@[^/]+:`, address)
}

# Files outside the project that git reads like any other.
examined.versions contains found(class, operand) if {
	some call in calls_of.versions
	call.operands[0] in {"diff", "hash-object", "add", "grep", "apply"}
	some operand in array.slice(call.operands, 1, count(call.operands))
	regex.match(`^[/~]`, operand)
	some class in classes_of("reads", operand)
}

# "git show REVISION:FILE" reads a file that may be gone from the folder.
examined.versions contains found(class, operand) if {
	some call in calls_of.versions
	call.operands[0] in {"show", "cat-file", "archive"}
	some operand in call.operands
	contains(operand, ":")
	some class in classes_of("reads", split(operand, ":")[1])
}
