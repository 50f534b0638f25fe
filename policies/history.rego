package bailiff

# METADATA
# title: What git would lose
# description: |
#   Commits, branches, merges and pushes of a branch are ordinary work. Discarding
#   uncommitted work is not, nor is rewriting history that others may have.
_examined.versions contains _found("history", _spelt(call)) if {
	some call in _calls_of.versions
	_rewrites(call.operands[0], {flag | some flag in call.flags}, call)
}

_rewrites("push", flags, _) if count(flags & _forcing) > 0

_forcing := {"-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "-d", "--prune"}

_rewrites("push", _, call) if {
	some refspec in array.slice(call.operands, 1, count(call.operands))
	regex.match(`^[+:]`, refspec)
}

_rewrites("reset", flags, _) if count(flags & {"--hard", "--merge", "--keep"}) > 0

_rewrites("clean", flags, _) if {
	count(flags & {"-f", "--force"}) > 0
	count(flags & {"-n", "--dry-run"}) == 0
}

_rewrites("branch", flags, _) if "-D" in flags

_rewrites("branch", flags, _) if {
	count(flags & {"-d", "--delete"}) > 0
	count(flags & {"-f", "--force"}) > 0
}

_rewrites("checkout", flags, _) if count(flags & {"-f", "--force"}) > 0

_rewrites("checkout", _, call) if "." in call.operands

_rewrites("restore", flags, call) if {
	"." in call.operands
	not "--staged" in flags
	not "-S" in flags
}

_rewrites("worktree", flags, call) if {
	call.operands[1] == "remove"
	count(flags & {"-f", "--force"}) > 0
}

_rewrites("rebase", flags, _) if count(flags & {"--abort", "--continue", "--skip", "--quit", "--show-current-patch"}) == 0

_rewrites("reflog", _, call) if call.operands[1] in {"expire", "delete"}

_rewrites("stash", _, call) if call.operands[1] in {"drop", "clear"}

_rewrites("update-ref", flags, _) if "-d" in flags

_rewrites("gc", _, call) if "--prune=now" in call.argv

_rewrites(command_name, _, _) if command_name in {"filter-branch", "filter-repo"}
