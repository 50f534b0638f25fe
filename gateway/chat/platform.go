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
	// with a [Refused]: the service will have nothing to do with this account.
	Run(ctx context.Context, in Inbox) error
}

// Poster shows messages.
type Poster interface {
	// Post shows a message. The key is the message's own: where a service can, it shows
	// what is posted twice under one key once.
	Post(ctx context.Context, at Place, m Message, key string) (Ref, error)
	// Edit shows another message in the place of one that it posted, whose file stays.
	// The same edit twice is no fault. The error is [ErrGone] if the message is no more.
	Edit(ctx context.Context, at Ref, m Message) error
}

// Threader begins threads.
type Threader interface {
	// Thread is the thread that goes on from a message: a new one, or the one that there
	// is. Where a service has no threads, it is where the message is.
	Thread(ctx context.Context, from Ref, title string) (Place, error)
}

// Inbox takes what people do at a platform. Its methods return soon, and may be called
// concurrently.
type Inbox interface {
	// Said takes what somebody wrote, or a command of the service that somebody chose. What
	// bailiff itself and other programs write is not told.
	Said(ctx context.Context, s Said)
	// Tapped takes somebody's answer to a message, and returns what to tell them, alone
	// if the service can do that.
	Tapped(ctx context.Context, t Tap) Text
	// Connected tells that the connection stands, or why it does not.
	Connected(err error)
}

// Place is where messages are.
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

// Person is somebody as the service knows them.
type Person struct {
	// ID never changes, and is what people in bailiff.yaml are known by.
	ID string
	// Name is for display only: anybody can choose any.
	Name string
}

// Said is what somebody wrote.
type Said struct {
	// Ref is the message; it is the same when the service delivers it again. A command
	// that somebody chose has an id of its own.
	Ref
	// Kind is of the conversation, as in [bailiff.Session]: dm, group, channel or thread.
	Kind string
	By   Person
	// Text is what was written, without the mention of bailiff in it, as it was typed:
	// code blocks stand between three backticks. A command of the service is "/status" and the like.
	Text string
	// Mentioned says that bailiff was named.
	Mentioned bool
	// Chosen says that it is a command of the service that somebody chose: no message stands
	// there that could be answered, so that what comes of it goes to them by Whisper.
	Chosen bool
	// Whisper tells who wrote something that nobody else sees; nil where that cannot be.
	Whisper func(ctx context.Context, t Text) error
}

// Tap is somebody's answer to a message, by a button of it or, where Token is empty, in
// words or signs.
type Tap struct {
	By Person
	// On is the message, as far as the service tells.
	On Ref
	// Token is the button's.
	Token string
	// Word is of the button that was meant, see [Button].
	Word string
	// Reason is what was written with it.
	Reason string
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
	// Token comes back when it is tapped: up to 40 letters and digits. What it means is
	// known here alone.
	Token string
	// Word, such as "approve", and Sign, an emoji, mean the same where there are no buttons.
	Word, Sign string
	// Asks is the question that is asked of who taps it, in one line; the answer comes with
	// the tap as its reason. Empty asks nothing.
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

// Busy is the error of what the service wants later.
type Busy struct{ After time.Duration }

func (b *Busy) Error() string {
	return "the service asks to wait for " + b.After.String()
}

// Refused is the error of what the service will not do as long as nobody changes
// anything: a token that it does not know, a permission or a channel that is missing.
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
