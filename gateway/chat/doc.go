// Package chat is the door where people already are: approvals are put to them and
// answered in their chats, and who may gives commands there.
//
// A [Platform] is one account of bailiff's at one chat service, in a package of its own
// below this one: it connects, shows messages and tells what people do, in that
// service's protocol. What messages say, who may do what, and what is remembered is here,
// once for all of them: the [Desk] has the approvals, [Sessions] the commands.
//
// What is promised:
//   - Nothing that a message holds is markup, mentions anybody or opens a link: a text is
//     made of pieces, and a platform writes each so that it shows as it is.
//   - A platform that is down or slow holds up neither another nor a request.
//   - A platform tries everything once and says how it failed ([Busy], [Refused],
//     [ErrGone], or anything else for what may pass); only its connection it makes anew
//     by itself. What is tried again, and when, is decided here.
//   - Tokens of accounts are in no message, log line or error.
//
// Not here: who may answer (internal/people), what an answer does (internal/approval),
// what a command may do (the policies).
package chat
