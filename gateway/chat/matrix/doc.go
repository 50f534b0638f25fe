// Package matrix is bailiff's account at a homeserver of Matrix's: approvals are posted
// in a room, people answer by a reaction or a reply, and give commands in rooms, threads
// and direct messages.
//
// It speaks the client-server API (v3) itself, the few calls of it that are used.
//
// What is promised:
//   - What is posted twice under one key, or asked for again after an answer was lost, is
//     shown once: its transaction id is made of the key. A homeserver knows those of one
//     access token, for a day or so.
//   - What was written while bailiff was away is told, in its order; where too much was for
//     one answer of the homeserver's, the rest is fetched. How far it is told is
//     remembered after it was told: after a crash the last of it is told again, under the
//     same ids. What was written before bailiff was in a room is not told.
//   - An answer counts as one to a message only if that message is bailiff's own, and has
//     a button of that sign or word. What its buttons are stands in the message itself, so
//     a restart forgets none.
//   - An invitation is accepted from who may give commands, and into the rooms of the
//     configuration; any other is told in the log, at info.
//   - The text of a message is escaped, has no mentions and no markup besides bold
//     letters, letters of one width and new lines.
//
// Not here: encrypted rooms. Nothing is told of them but a warning, and [Matrix.Check]
// says so. Nor the buttons that other services have: what can be answered is written below
// the text, and bailiff itself reacts with each sign, so that one click suffices. A message
// that asks for an answer is of the kind m.text, since homeservers notify no person of an
// m.notice, which is what all others are.
//
// What is told to an approver who answered is told in a direct room with them, which is made
// once, or as a reply where that cannot be. Nothing else is: who only writes could have
// bailiff make rooms.
package matrix
