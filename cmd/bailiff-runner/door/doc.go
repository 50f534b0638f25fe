// Package door is what stands beside a sandbox that is a pod of Kubernetes.
//
// [Bring] comes first, alone: it puts this program into a folder that the pod's containers share, and takes the pod's network
// away where it is to have none. [Stand] is the door, in a container of its own: it accepts one connection, of the sandbox's
// container, in which [Hold] becomes the runner with that connection as its input and output. Who comes to the door's container
// later speaks to the runner through [Enter], one at a time.
//
// Promised: the door accepts once, and listens in the pod's network no more before the first word reaches the runner, so that no
// command can come to either end. What the runner says while no client is there is dropped, as a container's engine does.
//
// Not here: frames. Only bytes are carried.
package door
