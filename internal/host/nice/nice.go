// Package nice raises the priority of a thread or of this process: a rule that is saved during an incident comes into force
// though all processors are busy.
//
// Promised: only the thread or the process that asks is raised, so that no command of an agent inherits the level; and work
// is done the same where the user may not raise it (setpriority(2): root, CAP_SYS_NICE or RLIMIT_NICE). Not here: which work that is.
package nice

// level is the niceness of what is raised: with -10 a thread has nine turns where another program's has one (sched(7)).
const level = -10
