// Package wire is what the resident runner and its client say to each other,
// and the runner to its supervisors: frames over any byte stream.
//
// A frame carries its own magic, length and checksum, so that a reader who
// starts in the middle of one finds the next by itself. Each command is a
// stream with a number; what a stream may have in flight is bounded by credit
// that the receiver gives, so that no side that does not read fills memory or
// keeps others waiting.
//
// The connections of an outlet are streams as well, with numbers of their own that the
// runner gives. Their bytes travel in a second lane: they wait for the frames of every
// other kind, so that no connection holds up a command's output. What a connection may
// have in flight is bounded twice: by credit of its own, given when the bytes have been
// read, and by credit that all connections of a direction share, given when they have
// arrived.
package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"
)

// Version is the protocol's; both sides must have the same.
const Version = 9

// MaxPayload bounds a frame. A longer message is several frames, the last of
// which is marked.
const MaxPayload = 32 << 10

// Window is how many bytes of output or input a stream may have in flight. Each
// frame of output or lines counts for Overhead bytes more than it carries.
const (
	Window   = 256 << 10
	Overhead = headSize
)

// Kind says what a frame means.
type Kind byte

// What clients say.
const (
	// Start begins a command: an encoded [Job].
	Start Kind = iota + 1
	// Stdin is input, of a dialogue on descriptor 3; the last frame ends it.
	Stdin
	// Interrupt kills the command and all that it started.
	Interrupt
	// Count asks how many processes ended commands left; Kill ends them.
	Count
	Kill
	// Digest asks for the contents of files, by their SHA-256: encoded [Files].
	Digest
	// Read asks for a part of a file: an encoded [Reading].
	Read
	// Match asks for the files that match a pattern: an encoded [Pattern].
	Match
	// Resolve asks what links are on the way of paths: encoded [Files].
	Resolve
	// Log asks for a part of a background command's log, Feed for passing on input,
	// the last frame for ending it, Stop for the end of all that the command
	// started, Forget for giving up what is known of it: encoded [Inquiry].
	Log
	Feed
	Stop
	Forget
	// Break ends what a dialogue's first process has started, and interrupts it.
	Break
	// KeepAlive says nothing but that the client is there.
	KeepAlive
	// Outlet has the runner listen for connections to the client: encoded [OutletTerms].
	Outlet
	// Named answers an Asked: an encoded [Name].
	Named
)

// What both sides say.
const (
	// Hello opens the conversation: a [Greeting]. The answer repeats its nonce.
	Hello Kind = iota + 32
	// Credit allows the other side so many bytes more of a stream.
	Credit
	// Carry is bytes of a connection; the last frame says that no more come this way.
	Carry
	// Allow is the credit of a connection, or of all together on the stream
	// [Everything]: a [Number].
	Allow
	// Cut ends a connection both ways, as a reset; its payload tells why.
	Cut
	// Widen allows a connection [Widening] bytes more, once.
	Widen
)

// What the runner says.
const (
	// Output is stdout and stderr in the order written.
	Output Kind = iota + 64
	// Line is a piece of what a dialogue's command wrote on descriptor 4, without
	// the end of the line, which Last marks.
	Line
	// Started answers the Start of a dialogue or a background command.
	Started
	// Ended closes a stream: an encoded [End].
	Ended
	// Refused closes a stream whose command did not start: an encoded [Refusal].
	Refused
	// Gone is a supervisor's word that no process is left below it.
	Gone
	// Counted and Killed answer Count and Kill.
	Counted
	Killed
	// Digested answers Digest with the digests in the order of the paths, empty
	// where there is no file, or is a Refused.
	Digested
	// Found answers Read with an encoded [Part], Matched answers Match with [Matches]; either may
	// be a Refused.
	Found
	Matched
	// Resolved answers Resolve with [Ground].
	Resolved
	// Logged answers Log with a [Piece], Done the other questions about a
	// background command; either may be a Refused.
	Logged
	Done
	// Over tells, on the stream [Everything], that a background command has ended:
	// an encoded [Known].
	Over
	// LogHandedOver is what a supervisor leaves of a log to the runner: a [Piece].
	LogHandedOver
	// OutletReady answers Outlet with [OutletFacts].
	OutletReady
	// Opened tells of a connection: an encoded [Arrival]. Later ones have higher
	// streams, the first one is above [Everything].
	Opened
	// Asked is a query of a program inside, on a stream of its own among those of
	// connections: an encoded [Query].
	Asked
)

// Everything is the stream on which the runner refuses to start anything more,
// and announces the ends of background commands.
const Everything = 0

// Frame is one unit of the conversation.
type Frame struct {
	Kind   Kind
	Stream uint32
	Last   bool
	// Epoch is that of the sidecar's run whose client sends this, zero where sidecars share nothing.
	Epoch   int64
	Payload []byte
}

var (
	magic = []byte{0xb5, 'b', 'l', 'f'}
	table = crc32.MakeTable(crc32.Castagnoli)
)

// A header is magic, checksum, stream, length, kind and flags. Of a frame with an epoch that stands before the payload
// and counts to its length; only a runner that knows of epochs is sent such ones.
const (
	headSize  = 4 + 4 + 4 + 4 + 1 + 1
	epochSize = 8
)

// The flags.
const (
	flagLast = 1 << iota
	flagEpoch
)

func appendFrame(to []byte, f Frame) []byte {
	at := len(to)
	to = append(to, magic...)
	to = append(to, 0, 0, 0, 0)
	to = binary.LittleEndian.AppendUint32(to, f.Stream)
	flags, length := flag(f.Last), len(f.Payload)
	if f.Epoch > 0 {
		flags, length = flags|flagEpoch, length+epochSize
	}
	to = binary.LittleEndian.AppendUint32(to, uint32(length))
	to = append(to, byte(f.Kind), flags)
	if f.Epoch > 0 {
		to = binary.LittleEndian.AppendUint64(to, uint64(f.Epoch))
	}
	to = append(to, f.Payload...)
	binary.LittleEndian.PutUint32(to[at+4:], crc32.Checksum(to[at+8:], table))
	return to
}

func flag(last bool) byte {
	if last {
		return flagLast
	}
	return 0
}

// Writer sends frames, each in one write; many may use it at once. It has two lanes: a
// frame of the second one lets those of the first one pass, all but some if they are many.
type Writer struct {
	to    io.Writer
	buf   []byte
	epoch int64
	// bulk is held by the one frame of the second lane that waits or is written.
	bulk sync.Mutex

	mu   sync.Mutex
	busy bool
	// waiting counts the frames of each lane that wait for their turn.
	waiting [2]int
	turn    [2]sync.Cond
	// overtook counts the frames of the first lane that passed the one which waits in
	// the second.
	overtook int
}

// The lanes.
const (
	urgent = iota
	patient
)

// fairness is how many frames of the first lane may pass one of the second.
const fairness = 16

// NewWriter sends to the stream.
func NewWriter(to io.Writer) *Writer {
	w := &Writer{to: to}
	w.turn[urgent].L, w.turn[patient].L = &w.mu, &w.mu
	return w
}

// SetEpoch has all later frames bear an epoch.
func (w *Writer) SetEpoch(epoch int64) {
	w.enter(urgent)
	defer w.leave()
	w.epoch = epoch
}

// Send sends one frame, whose payload is at most [MaxPayload].
func (w *Writer) Send(f Frame) error {
	w.enter(urgent)
	defer w.leave()
	return w.write(f)
}

// SendBulk sends one frame in the second lane.
func (w *Writer) SendBulk(f Frame) error {
	w.bulk.Lock()
	defer w.bulk.Unlock()
	w.enter(patient)
	defer w.leave()
	return w.write(f)
}

// enter waits until no other frame is written and the lane has its turn.
func (w *Writer) enter(lane int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting[lane]++
	for w.busy || w.next() != lane {
		w.turn[lane].Wait()
	}
	w.waiting[lane]--
	w.busy = true
	if lane == patient {
		w.overtook = 0
	} else if w.waiting[patient] > 0 {
		w.overtook++
	}
}

// next is the lane whose turn it is.
func (w *Writer) next() int {
	if w.waiting[urgent] > 0 && (w.waiting[patient] == 0 || w.overtook < fairness) {
		return urgent
	}
	return patient
}

func (w *Writer) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy = false
	w.turn[w.next()].Signal()
}

// write is for who has entered.
func (w *Writer) write(f Frame) error {
	f.Epoch = w.epoch
	w.buf = appendFrame(w.buf[:0], f)
	_, err := w.to.Write(w.buf)
	return err
}

// SendAll sends a message as frames of one stream, the last one marked.
func (w *Writer) SendAll(kind Kind, stream uint32, message []byte) error {
	for {
		n := min(len(message), MaxPayload)
		f := Frame{Kind: kind, Stream: stream, Payload: message[:n], Last: n == len(message)}
		if err := w.Send(f); err != nil || f.Last {
			return err
		}
		message = message[n:]
	}
}

// Resync sends what completes any frame that an earlier writer left unfinished.
func (w *Writer) Resync() error {
	w.enter(urgent)
	defer w.leave()
	_, err := w.to.Write(make([]byte, headSize+epochSize+MaxPayload))
	return err
}

// Reader receives frames and passes over bytes that are none.
type Reader struct {
	from *bufio.Reader
	last int
}

// NewReader receives from the stream.
func NewReader(from io.Reader) *Reader { return newReader(from, 1) }

// NewBulkReader receives from a stream that may carry much: it takes several frames at once.
func NewBulkReader(from io.Reader) *Reader { return newReader(from, 4) }

func newReader(from io.Reader, frames int) *Reader {
	return &Reader{from: bufio.NewReaderSize(from, frames*(headSize+epochSize+MaxPayload))}
}

// Next waits for a frame. Its payload is good until the next call.
func (r *Reader) Next() (Frame, error) {
	r.discard(r.last)
	r.last = 0
	for {
		head, err := r.from.Peek(headSize)
		if err != nil {
			return Frame{}, err
		}
		f, size, err := r.frame(head)
		if err != nil {
			return Frame{}, err
		}
		if size > 0 {
			r.last = size
			return f, nil
		}
		r.skip()
	}
}

// frame is the frame that begins with head; its size is zero if none does.
func (r *Reader) frame(head []byte) (Frame, int, error) {
	length := binary.LittleEndian.Uint32(head[12:])
	before := 0
	if head[17]&flagEpoch != 0 {
		before = epochSize
	}
	if !bytes.HasPrefix(head, magic) || length < uint32(before) || length > uint32(before)+MaxPayload {
		return Frame{}, 0, nil
	}
	size := headSize + int(length)
	whole, err := r.from.Peek(size)
	if err != nil {
		return Frame{}, 0, err
	}
	if binary.LittleEndian.Uint32(whole[4:]) != crc32.Checksum(whole[8:], table) {
		return Frame{}, 0, nil
	}
	f := Frame{
		Kind:    Kind(whole[16]),
		Last:    whole[17]&flagLast != 0,
		Stream:  binary.LittleEndian.Uint32(whole[8:]),
		Payload: whole[headSize+before:],
	}
	if before > 0 {
		f.Epoch = int64(binary.LittleEndian.Uint64(whole[headSize:]))
	}
	return f, size, nil
}

// skip moves on to where the next frame may begin.
func (r *Reader) skip() {
	held, _ := r.from.Peek(r.from.Buffered())
	next := bytes.IndexByte(held[1:], magic[0])
	if next < 0 {
		next = len(held) - 1
	}
	r.discard(1 + next)
}

// discard drops bytes that are in the buffer, which cannot fail.
func (r *Reader) discard(n int) { _, _ = r.from.Discard(n) }
