// Package quota keeps what the commands of a sandbox may fill a folder with, where the folder's disk has no bound of its
// own. A [Monitor] counts what is in the folder while something runs, and stops what fills it beyond its bound.
//
// Promised: counts take a share of the time at most, and four descriptors at any depth. A folder that is over its
// bound and does not grow stops nothing, so that files can be deleted.
package quota
