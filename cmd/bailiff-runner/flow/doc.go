// Package flow has what streams of bytes in the runner have in common: descriptors for which no thread waits in the
// kernel, and the [Credit] that bounds what is on its way.
package flow
