package chat

import (
	"context"
	"errors"
	"time"
)

// Platform is bailiff's account at a chat service. Its methods may be called
// concurrently, before Run and during it.
type Platform interface {
	Poster
	Threader
	// Run receives what people do until ctx ends, and makes its connection anew, with
	// growing pauses, whenever it breaks; its error is nil then. It ends earlier only
	// with a [Refused]: the service does not accept this account.
	Run(ctx context.Context, in Inbox) error
}

// Poster shows messages.
type Poster interface {
	// Post shows a message. The key is the message's own: a service that can shows a
	// message that is posted twice under one key once.
	Post(ctx context.Context, at Place, m Message, key string) (Ref, error)
	// Edit replaces a message that it posted, whose file stays. The same edit twice is no
	// error. The error is [ErrGone] if the message was deleted.
	Edit(ctx context.Context, at Ref, m Message) error
}

// Threader begins threads.
type Threader interface {
	// Thread returns the thread that starts at a message, and creates it if there is none.
	// Where a service has no threads, it is the message's place.
	Thread(ctx context.Context, from Ref, title string) (Place, error)
}

// Inbox takes what people do at a platform. Its methods return soon, and may be called
// concurrently.
type Inbox interface {
	// Said takes a message that a person wrote, or a slash command that they chose. Messages
	// of bailiff itself and of other programs are left out.
	Said(ctx context.Context, s Said)
	// Clicked takes a person's answer to a message, and returns the text to show them, only
	// to them if the service can do that.
	Clicked(ctx context.Context, t Click) Text
	// Connected takes the state of the connection: nil, or why there is none.
	Connected(err error)
}

// Place is a chat, or a thread in one.
type Place struct {
	// Chat is the service's id of a channel, room or conversation.
	Chat string `json:"chat"`
	// Thread is the service's id of a thread in it; empty outside of threads.
	Thread string `json:"thread,omitempty"`
}

// Ref is a message that is shown.
type Ref struct {
	Place
	// Message is the service's id of it, in its chat.
	Message string `json:"message"`
}

// Person is a user of the service.
type Person struct {
	// ID never changes; bailiff.yaml names people by it.
	ID string
	// Name is for display only: users choose it themselves.
	Name string
}

// Said is a message that a person wrote.
type Said struct {
	// Ref is the message; it is the same when the service delivers it again. A slash
	// command has an id of its own.
	Ref
	// Kind is of the conversation, as in [bailiff.Session]: dm, group, channel or thread.
	Kind string
	By   Person
	// Text is the text as it was typed, without the mention of bailiff: code blocks stand
	// between three backticks. A slash command is "/status" and the like.
	Text string
	// Mentioned says that bailiff was named.
	Mentioned bool
	// SlashCommand says that the person chose a command of the service. There is no message
	// to reply to, so that the answer goes to them by Ephemeral.
	SlashCommand bool
	// Ephemeral shows the writer a text that only they see; nil where the service has no
	// such messages.
	Ephemeral func(ctx context.Context, t Text) error
}

// Click is a person's answer to a message: by a button of it or, where Token is empty, by
// a word or a sign.
type Click struct {
	By Person
	// On is the message, as far as the service tells.
	On Ref
	// Token is the button's.
	Token string
	// Word is of the button that was meant, see [Button].
	Word string
	// Terms are how long and how often a yes holds, as a person wrote it behind the word, see [ReadTerms].
	Terms string
	// Reason is what was written with it.
	Reason string
	// Opinion is what a program says of the message's approval, in place of an answer.
	Opinion string
}

// Message is what is shown.
type Message struct {
	Text Text
	// Buttons stand below it, in this order.
	Buttons []Button
	// File goes along with it; nil if nothing does.
	File *File
}

// File is a text that is too long for a message.
type File struct {
	Name    string
	Content []byte
}

// Button is an answer that can be given to a message.
type Button struct {
	Label string
	// Token comes back with a click: up to 40 letters and digits. Only this package knows
	// what it means.
	Token string
	// Word, such as "approve", and Sign, an emoji, mean the same where there are no buttons.
	Word, Sign string
	// Asks is a question for the person who clicks, in one line; their answer comes with
	// the click as its reason. Empty asks nothing.
	Asks string
	// Yes says that the button lets something happen.
	Yes bool
}

// Text is what a message says, in pieces.
type Text []Piece

// Piece is a part of a text; no part of it is markup.
type Piece struct {
	Style Style
	Text  string
}

// Style is how a piece looks.
type Style int

// The styles of pieces. A Block stands in lines of its own, in letters of one width.
const (
	Plain Style = iota
	Strong
	Code
	Block
)

// Busy is the error of a call that the service wants later.
type Busy struct{ After time.Duration }

func (b *Busy) Error() string {
	return "the service asks to wait for " + b.After.String()
}

// Refused is the error of a call that the service will refuse until an operator changes
// something: a token that it does not know, a permission or a channel that is missing.
type Refused struct {
	// Reason says in one sentence what is wrong and what would be right.
	Reason string
}

func (r *Refused) Error() string { return r.Reason }

// ErrGone: the message is not there any more.
var ErrGone = errors.New("the message is gone")

// Memory is what a platform keeps over restarts, such as how far it has read.
type Memory interface {
	Recall(key string) string
	Remember(key, value string) error
}

// Finding is one thing that a check of a platform found.
type Finding struct {
	// What was looked at, such as "token" or "ana (U07A) sees C012".
	What string
	// Err says what is missing and where to set it; nil if all is well.
	Err error
}

// Checker looks whether a platform's account can do what it must, and whether people,
// by their ids there, can be reached where approvals are posted.
type Checker interface {
	Check(ctx context.Context, people []Person) []Finding
}
