// Package chat lets people answer approvals and give commands in the chats that they use.
//
// A [Platform] is one account of bailiff's at one chat service, in a package of its own
// below this one: it connects, shows messages and reports what people do, in that
// service's protocol. What messages say, who may do what and what is remembered is here,
// once for all services: a [Notifier] posts approvals, [Sessions] take commands.
//
// What is promised:
//   - No text in a message becomes markup, a mention or a link: a text is made of pieces,
//     and a platform escapes each.
//   - A platform that is down or slow holds up neither another nor a request.
//   - A platform tries everything once and says how it failed ([Busy], [Refused],
//     [ErrGone], or anything else for what may pass); only its connection it makes anew
//     by itself. This package decides what is tried again, and when.
//   - Tokens of accounts are in no message, log line or error.
//
// Not here: who may answer (internal/approval/people), what an answer does (internal/approval),
// what a command may do (the policies).
package chat
