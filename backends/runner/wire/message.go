package wire

import (
	"encoding/binary"
	"time"
)

// MaxJob bounds an encoded [Job].
const MaxJob = 4 << 20

// MaxTag bounds the name of a background command, MaxLogged the data of a [Piece].
const (
	MaxTag    = 64
	MaxLogged = MaxPayload - 2*binary.MaxVarintLen64
)

// Greeting is the payload of a [Hello].
type Greeting struct {
	Version uint32
	// Nonce tells the answer to this hello from older words on the stream.
	Nonce string
	// Linger is how long a runner that hears nothing stays; zero means for ever,
	// until its input ends.
	Linger time.Duration
	// Processes are, in an answer, the background commands in the order of their start.
	Processes []Known
}

// Known is what a runner tells of a background command.
type Known struct {
	Tag string
	// Over says that End is how it ended.
	Over bool
	End  End
}

// Mode is how a command stands to its caller.
type Mode byte

const (
	// Foreground: its output is sent as it comes, and it ends with its client.
	Foreground Mode = iota
	// Background: its output is kept, and it stays when its client goes.
	Background
	// Dialogue: it has two more descriptors, on which lines come and go.
	Dialogue
)

// Terms are what the runner itself looks at in a [Job].
type Terms struct {
	Timeout time.Duration
	Reap    bool
	Mode    Mode
	// Tag names a background command.
	Tag string
}

// Job is a command as the supervisor starts it.
type Job struct {
	Terms
	// Input says that Stdin frames follow.
	Input      bool
	Head, Tail int
	Dir        string
	Argv, Env  []string
}

// Inquiry is a question about a background command. The runner notes who asked
// when it passes one on.
type Inquiry struct {
	Tag    string
	Asker  uint32
	Offset int64
	Most   int
	Data   []byte
}

// Piece is a part of a log that begins at From; Written counts all of the log.
type Piece struct {
	From, Written int64
	Data          []byte
}

// Refusal is why a command did not start.
type Refusal struct {
	Reason Reason
	Text   string
}

// Reason says whose fault it is that a command did not start.
type Reason byte

const (
	// Broken: the runner cannot start anything any more.
	Broken Reason = iota
	// Full: there is no room for another process now.
	Full
	// Unfit: the command asks for what is not there or cannot be run.
	Unfit
)

// End is how a command ended.
type End struct {
	Code                  int
	TimedOut, Interrupted bool
	// Lost says that the command was killed with its supervisor.
	Lost bool
	// Starved says that a process was killed meanwhile because the memory that
	// the sandbox may use was used up.
	Starved bool
	Dropped int64
	Dir     string
	Took    time.Duration
}

// Files are the paths of files; relative ones are seen from Dir.
type Files struct {
	Dir   string
	Paths []string
}

// Encode writes the greeting.
func (g Greeting) Encode() []byte {
	var e encoder
	e.number(int64(g.Version))
	e.text(g.Nonce)
	e.number(int64(g.Linger))
	e.number(int64(len(g.Processes)))
	for _, k := range g.Processes {
		e.known(k)
	}
	return e.buf
}

// DecodeGreeting reads what Encode wrote; later versions may append to it, and of
// another version's nothing but version and nonce is read.
func DecodeGreeting(b []byte) (Greeting, error) {
	d := decoder{rest: b}
	g := Greeting{Version: uint32(d.number()), Nonce: d.text()}
	if g.Version != Version {
		return g, d.err
	}
	g.Linger = time.Duration(d.number())
	for n := d.count(); n > 0; n-- {
		g.Processes = append(g.Processes, d.known())
	}
	return g, d.err
}

// Encode writes what is known.
func (k Known) Encode() []byte {
	var e encoder
	e.known(k)
	return e.buf
}

// DecodeKnown reads what Encode wrote.
func DecodeKnown(b []byte) (Known, error) {
	d := decoder{rest: b}
	k := d.known()
	return k, d.end()
}

func (e *encoder) known(k Known) {
	e.text(k.Tag)
	e.bool(k.Over)
	e.end(k.End)
}

func (d *decoder) known() Known { return Known{Tag: d.text(), Over: d.bool(), End: d.ended()} }

// Encode writes the job.
func (j Job) Encode() []byte {
	var e encoder
	e.number(int64(j.Timeout))
	e.bool(j.Reap)
	e.number(int64(j.Mode))
	e.text(j.Tag)
	e.bool(j.Input)
	e.number(int64(j.Head))
	e.number(int64(j.Tail))
	e.text(j.Dir)
	e.list(j.Argv)
	e.list(j.Env)
	return e.buf
}

// DecodeJob reads what Encode wrote.
func DecodeJob(b []byte) (Job, error) {
	d := decoder{rest: b}
	j := Job{
		Terms: d.terms(), Input: d.bool(),
		Head: int(d.number()), Tail: int(d.number()),
		Dir: d.text(), Argv: d.list(), Env: d.list(),
	}
	return j, d.end()
}

// DecodeTerms reads the beginning of a job.
func DecodeTerms(b []byte) (Terms, error) {
	d := decoder{rest: b}
	t := d.terms()
	return t, d.err
}

func (d *decoder) terms() Terms {
	return Terms{Timeout: time.Duration(d.number()), Reap: d.bool(), Mode: Mode(d.number()), Tag: d.text()}
}

// Encode writes the inquiry.
func (i Inquiry) Encode() []byte {
	var e encoder
	e.text(i.Tag)
	e.number(int64(i.Asker))
	e.number(i.Offset)
	e.number(int64(i.Most))
	e.buf = append(e.buf, i.Data...)
	return e.buf
}

// DecodeInquiry reads what Encode wrote; the data is a part of b.
func DecodeInquiry(b []byte) (Inquiry, error) {
	d := decoder{rest: b}
	i := Inquiry{Tag: d.text(), Asker: uint32(d.number()), Offset: d.number(), Most: int(d.number())}
	i.Data = d.rest
	return i, d.err
}

// Encode writes the piece.
func (p Piece) Encode() []byte {
	var e encoder
	e.number(p.From)
	e.number(p.Written)
	e.buf = append(e.buf, p.Data...)
	return e.buf
}

// DecodePiece reads what Encode wrote; the data is a part of b.
func DecodePiece(b []byte) (Piece, error) {
	d := decoder{rest: b}
	p := Piece{From: d.number(), Written: d.number()}
	p.Data = d.rest
	return p, d.err
}

// maxRefusal bounds the text of a refusal, so that it fits in a frame whatever it quotes.
const maxRefusal = 1 << 10

// Encode writes the refusal.
func (r Refusal) Encode() []byte {
	var e encoder
	e.number(int64(r.Reason))
	e.text(r.Text[:min(len(r.Text), maxRefusal)])
	return e.buf
}

// DecodeRefusal reads what Encode wrote.
func DecodeRefusal(b []byte) (Refusal, error) {
	d := decoder{rest: b}
	r := Refusal{Reason: Reason(d.number()), Text: d.text()}
	return r, d.end()
}

// Encode writes the end.
func (x End) Encode() []byte {
	var e encoder
	e.end(x)
	return e.buf
}

// DecodeEnd reads what Encode wrote.
func DecodeEnd(b []byte) (End, error) {
	d := decoder{rest: b}
	x := d.ended()
	return x, d.end()
}

func (e *encoder) end(x End) {
	e.number(int64(x.Code))
	e.bool(x.TimedOut)
	e.bool(x.Interrupted)
	e.bool(x.Lost)
	e.bool(x.Starved)
	e.number(x.Dropped)
	e.text(x.Dir)
	e.number(int64(x.Took))
}

func (d *decoder) ended() End {
	return End{
		Code: int(d.number()), TimedOut: d.bool(), Interrupted: d.bool(), Lost: d.bool(), Starved: d.bool(),
		Dropped: d.number(), Dir: d.text(), Took: time.Duration(d.number()),
	}
}

// Encode writes the paths.
func (f Files) Encode() []byte {
	var e encoder
	e.text(f.Dir)
	e.list(f.Paths)
	return e.buf
}

// DecodeFiles reads what Encode wrote.
func DecodeFiles(b []byte) (Files, error) {
	d := decoder{rest: b}
	f := Files{Dir: d.text(), Paths: d.list()}
	return f, d.end()
}

// EncodeDigests writes the payload of Digested.
func EncodeDigests(digests []string) []byte {
	var e encoder
	e.list(digests)
	return e.buf
}

// DecodeDigests reads what EncodeDigests wrote.
func DecodeDigests(b []byte) ([]string, error) {
	d := decoder{rest: b}
	digests := d.list()
	return digests, d.end()
}

// EncodeNumber writes the payload of Credit and Counted.
func EncodeNumber(n int) []byte { return binary.AppendVarint(nil, int64(n)) }

// DecodeNumber reads what EncodeNumber wrote.
func DecodeNumber(b []byte) (int, error) {
	d := decoder{rest: b}
	n := int(d.number())
	return n, d.end()
}
