// Package serve is the resident runner: it passes frames between its client and the supervisors of commands, keeps the
// time, kills, and counts.
//
// [Run] reads what the client says, in its order; what takes time goes on beside it. A job is a command as the runner
// sees it. The pool holds the supervisors, which are this program again: those that wait, those at work, and those whose
// command has ended and left something that runs.
//
// Promised: what runs for a client ends when another greets the runner, but for background commands. No command is given
// to a supervisor that is dead or may be. Everything ends with the input, or with a silence that is too long.
//
// Not here: what a supervisor does (package supervise); neither knows the other, they speak package wire.
package serve
