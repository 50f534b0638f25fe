// Package door is what stands beside a sandbox that is a pod of Kubernetes.
//
// [Bring] comes first, alone: it puts this program into a folder that the pod's containers share, and takes the pod's network
// away where it is to have none. [Stand] is the door, in a container of its own: it gives the ends of two pipes to the first that
// connects, in the sandbox's container, where [Hold] becomes the runner with these as its input and output. Who comes to the door's
// container later speaks to the runner through [Enter], one at a time: a later one ends the earlier.
//
// Promised: the door accepts once, and listens in the pod's network no more before the runner begins, so that no command can come to
// either end; no socket is left in that network. If the door's container ends, so do the pipes and the runner.
//
// Not here: frames. Only bytes are carried.
package door
