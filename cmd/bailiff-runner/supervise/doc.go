// Package supervise is the runner's program as the supervisor of commands, one after another: it starts a command,
// passes its input and output, and tells how the command ended and when nothing of it is left.
//
// Promised: all that a command starts stays below its supervisor. A supervisor that is left by its runner ends what is
// below it. No side that does not read holds up the other, or fills memory.
package supervise
