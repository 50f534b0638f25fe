// Package webhook asks people by any other service: what is posted is sent to an
// address by HTTP, and answers come back by HTTP, each signed by a secret that both sides
// have. docs/chat/webhook.md tells the protocol, for the authors of the other side.
//
// What is promised:
//   - Nothing is believed that is not signed over its body and its time: not what is older
//     or newer than five minutes, and not what was sent before, by its id. The other side
//     learns no more of what is not signed than that it is wrong. What was heard is
//     remembered for as long as its time would let it in again, though not over a restart:
//     that an answer counts once is seen to by the caller, which takes it.
//   - What is sent is signed in the same way, over each attempt's own time.
//   - What comes in is bounded: a body in bytes, what is remembered in numbers.
//
// There are no commands, and one place: which message an answer is to is all that is said
// of where it is. Who answered is what the other side says; only who has the secret can.
package webhook
