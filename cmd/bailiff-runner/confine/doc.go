// Package confine makes the place in which commands run, and takes from the runner, and so from all that it starts, what
// no command needs.
//
// The steps are independent of each other, and each is done by an argument of the program: [Isolate] makes namespaces in
// a machine that is the sandbox's alone, [AsUser] becomes an ordinary user, [ShareWatches] and [LimitQueues] leave other
// sandboxes of the same user their part, [FilterCalls] renounces calls of the kernel. [Withdraw] comes before all of
// them: no command can look into the runner.
//
// Promised: a step that fails ends the program before any command was started.
//
// Not here: what carries the stream from outside (package transport), and commands.
package confine
