// Package journal keeps the last part of what a background command wrote, in memory and in a file without a name.
//
// Promised: the memory and the file have a bound however much is written, and a file that cannot be made, written or
// read costs older bytes only.
package journal
