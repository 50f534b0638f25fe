// Package telegramtest is a Bot API for tests: one bot, in chats with people whom the
// test plays.
//
// [Server] speaks what https://core.telegram.org/bots/api says, over a socket, and is as
// strict: the token in the path, what each method requires and how long that may be, the
// places of entities, one poller at a time, a webhook with its secret. It makes links of
// names and addresses as Telegram does. What Telegram passes over in silence, such as a
// parameter that does not exist, fails the test.
//
// A test writes, replies and clicks as a person, looks at what the bot shows, and has
// calls fail.
package telegramtest
