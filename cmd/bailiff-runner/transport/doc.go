// Package transport brings the conversation to a runner whose stream carries text only, or whose input comes as files. It
// starts the program again behind the stream and stays between the two, as the user that it was started as.
package transport
