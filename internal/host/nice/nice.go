// Package nice has work go before that of other programs where all processors are busy: a rule that is saved during an incident
// comes into force beside what the incident runs.
//
// Promised is that only the thread or the process that asks is raised, so that no command of an agent inherits it, and that work
// is done the same where the user may not raise it (setpriority(2): root, CAP_SYS_NICE or RLIMIT_NICE). Not here: which work that is.
package nice

// Level is the niceness of what is raised: with -10 a thread has nine turns where another program's has one (sched(7)).
const Level = -10
