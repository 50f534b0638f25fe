// Package processes lists the processes of a sandbox and kills them with all that they start meanwhile, and has what
// starts of processes have in common.
//
// Promised: processes are stopped before they are killed, one by one, or, by the first process of a sandbox, all at once, so
// that none can fork away from under it.
package processes
