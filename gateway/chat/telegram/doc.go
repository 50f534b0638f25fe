// Package telegram is bailiff's account at Telegram: a bot, which speaks the Bot API.
//
// [Telegram.Run] asks for what is new and waits at the service until there is something
// (getUpdates), or has the service call (setWebhook): then only who sends the secret
// along is heard. Either way an update is confirmed only after the inbox took it, so one
// may come twice and none is lost; it has the same id both times.
//
// What a message says is sent as text with entities, which name by their places what is
// bold or code, so that no character of it is markup. Telegram itself looks for names,
// links, commands and numbers in what is neither code nor a block, and makes links of them;
// there a word joiner, which is not visible, stands behind the character that they begin
// with. Code and blocks are exactly what they were.
//
// Posts cannot be made idempotent here: the Bot API has no key for a message. What comes
// near: a post whose answer was received is never sent again under its key, as long as
// this process lives, and a file goes first, so that a person who sees the buttons sees the
// file and a try that got half of it done goes on there. What is left is an answer that
// was lost on its way: then the message is shown, bailiff does not know it, and the next try shows
// it once more. The tokens of both are the same, so that only one answer counts.
//
// A button that asks is answered by a question to the person who clicked it, which their client
// opens as a reply (force_reply). Questions are kept in memory for ten minutes; a
// person who answers one that is forgotten is asked to click again.
//
// The bot's token is part of the addresses that are called. It is in no error and no
// log line: the library sees nothing but what [apiCall] lets through.
//
// Telegram tells a bot in a group commands, mentions of it and replies to it only, unless
// its privacy mode is off. What is forwarded, sent by another bot or in the name of a
// channel or group was written by a person that cannot be known, and is not told.
//
// Not here: what messages say, who may answer or give commands (package chat).
package telegram
