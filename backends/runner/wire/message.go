package wire

import (
	"encoding/binary"
	"time"
)

// MaxJob bounds an encoded [Job].
const MaxJob = 4 << 20

// SearchPath is where commands find programs by name, as PATH has it: what their sidecar gives them, and where the
// runner itself looks for one.
const SearchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin"

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
	// Bound is what commands may fill a folder with.
	Bound Bound
	// Processes are, in an answer, the background commands in the order of their start.
	Processes []Known
	// Epoch is that of the sidecar's run which greets, zero where sidecars share nothing, and in an answer the highest of any
	// run that greeted. A runner that does not know of epochs says zero.
	Epoch int64
}

// Bound says how much may be in a folder, at any depth: bytes that its disk gave, and files and
// folders. Zero stands for no bound.
type Bound struct {
	Folder       string
	Bytes, Files int64
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
	// Label is that of the address by which the command leaves, 0 if it has none.
	Label uint32
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
	// Superseded: a later run of the sidecar has the sandbox.
	Superseded
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
	Excess  Excess
	Dropped int64
	Dir     string
	Took    time.Duration
}

// Excess says by what a folder is over its bound. All is zero where it is not.
type Excess struct {
	Kind        ExcessKind
	Found, Most int64
	// Stopped says that the command was killed for it.
	Stopped bool
}

// ExcessKind says what there is too much of.
type ExcessKind byte

const (
	// Within: of nothing.
	Within ExcessKind = iota
	// Bytes: of bytes.
	Bytes
	// Entries: of files and folders.
	Entries
	// Uncounted: that cannot be told. There are many times the files and folders that may be, or
	// folders are closed and moved while they are counted. Found are those that were.
	Uncounted
)

// Files are the paths of files; relative ones are seen from Dir.
type Files struct {
	Dir   string
	Paths []string
}

// MaxOutlet bounds encoded [OutletTerms].
const MaxOutlet = 512 << 10

// OutletTerms say how connections are to be taken. Most are open at once; CA is a
// certificate, in PEM, that programs are to find, empty if there is none, and Roots are those
// that they find besides where the place has none. Names says that programs may look names up.
type OutletTerms struct {
	Most  int
	CA    []byte
	Roots string
	Names bool
}

// OutletFacts say where the runner listens, and in which files a certificate is: alone,
// and with those that the place had. Fault is why it does not listen, empty if it does, and
// NoNames why no names are looked up, empty if they are, or are not to be.
type OutletFacts struct {
	Port           int
	CAFile, Bundle string
	Fault, NoNames string
}

// Digests is the payload of a [Digested]: those of the files that were asked for.
type Digests []string

// Reading asks for the content of a file from an offset on; a relative path is seen from Dir.
type Reading struct {
	Dir, Path string
	Offset    int64
}

// Part is a part of a file's content, the last one where Offset and it are Size. Changed is
// when the file was written, moved or linked last, by the clock of its machine, and Now what
// that clock says. There is no such file where Missing is set, and it is a folder where Folder is.
type Part struct {
	Size            int64
	Changed, Now    int64 // nanoseconds since 1970
	Missing, Folder bool
	Text            string
}

// Pattern asks for the files below a folder that match a pattern and were written, moved or linked
// within a time. Each part of the pattern is one of a path's, as path.Match has it; "**" stands for any number
// of folders. A relative folder is seen from Dir. With Stems only entries of the folder count whose names are among them, up to
// the first dot for a file's; links to folders of these names are followed, and all in a folder is as young as that or as the link.
type Pattern struct {
	Dir, Folder, Pattern string
	Within               time.Duration
	Stems                []string
}

// Matches are the files that match a pattern, by their paths below its folder. All is false where there are more.
type Matches struct {
	All   bool
	Paths []string
}

// Ground is what was found of paths. All is false where one could not be looked at as a whole. Folder is the
// device and inode of the folder from which relative ones are seen, empty where there is none.
type Ground struct {
	All    bool
	Folder string
	Links  []Link
}

// Link is a part of a path that is a link, and the names of what it leads to.
type Link struct {
	Path    string
	Targets []string
}

// MaxParts is how many parts of paths are looked at for one question.
const MaxParts = 1000

// PartSize bounds the text of a part, so that it is one frame.
const PartSize = MaxPayload - 128

// Number is the payload of a [Credit], a [Counted] and an [Allow].
type Number int

// The parts of each message, in the order in which they are sent.

// Later versions may append to a greeting, and of another version's nothing but version
// and nonce is read.
func (g *Greeting) parts(c *codec) {
	number(c, &g.Version)
	c.text(&g.Nonce)
	if g.Version == Version {
		number(c, &g.Linger)
		g.Bound.parts(c)
		list(c, &g.Processes, func(k *Known) { k.parts(c) })
		if !c.reading || len(c.buf) > 0 { // of an earlier release that says nothing of epochs
			number(c, &g.Epoch)
		}
	}
	c.ignoreRest()
}

func (b *Bound) parts(c *codec) {
	c.text(&b.Folder)
	number(c, &b.Bytes)
	number(c, &b.Files)
}

func (k *Known) parts(c *codec) {
	c.text(&k.Tag)
	c.bool(&k.Over)
	k.End.parts(c)
}

func (t *Terms) parts(c *codec) {
	number(c, &t.Timeout)
	c.bool(&t.Reap)
	number(c, &t.Mode)
	c.text(&t.Tag)
	number(c, &t.Label)
}

func (j *Job) parts(c *codec) {
	j.Terms.parts(c)
	c.bool(&j.Input)
	number(c, &j.Head)
	number(c, &j.Tail)
	c.text(&j.Dir)
	list(c, &j.Argv, c.text)
	list(c, &j.Env, c.text)
}

// DecodeTerms reads the beginning of a job.
func DecodeTerms(b []byte) (t Terms, err error) {
	c := codec{buf: b, reading: true}
	t.parts(&c)
	return t, c.err
}

func (i *Inquiry) parts(c *codec) {
	c.text(&i.Tag)
	number(c, &i.Asker)
	number(c, &i.Offset)
	number(c, &i.Most)
	c.rest(&i.Data)
}

func (p *Piece) parts(c *codec) {
	number(c, &p.From)
	number(c, &p.Written)
	c.rest(&p.Data)
}

// maxRefusal bounds the text of a refusal or fault, so that it fits in a frame with all that it quotes.
const maxRefusal = 1 << 10

func (r *Refusal) parts(c *codec) {
	if !c.reading {
		r.Text = r.Text[:min(len(r.Text), maxRefusal)]
	}
	number(c, &r.Reason)
	c.text(&r.Text)
}

func (x *End) parts(c *codec) {
	number(c, &x.Code)
	c.bool(&x.TimedOut)
	c.bool(&x.Interrupted)
	c.bool(&x.Lost)
	c.bool(&x.Starved)
	x.Excess.parts(c)
	number(c, &x.Dropped)
	c.text(&x.Dir)
	number(c, &x.Took)
}

func (x *Excess) parts(c *codec) {
	number(c, &x.Kind)
	number(c, &x.Found)
	number(c, &x.Most)
	c.bool(&x.Stopped)
}

func (f *Files) parts(c *codec) {
	c.text(&f.Dir)
	list(c, &f.Paths, c.text)
}

func (r *Reading) parts(c *codec) {
	c.text(&r.Dir)
	c.text(&r.Path)
	number(c, &r.Offset)
}

func (p *Part) parts(c *codec) {
	number(c, &p.Size)
	number(c, &p.Changed)
	number(c, &p.Now)
	c.bool(&p.Missing)
	c.bool(&p.Folder)
	c.text(&p.Text)
}

func (p *Pattern) parts(c *codec) {
	c.text(&p.Dir)
	c.text(&p.Folder)
	c.text(&p.Pattern)
	number(c, &p.Within)
	list(c, &p.Stems, c.text)
}

func (m *Matches) parts(c *codec) {
	c.bool(&m.All)
	list(c, &m.Paths, c.text)
}

func (g *Ground) parts(c *codec) {
	c.bool(&g.All)
	c.text(&g.Folder)
	list(c, &g.Links, func(l *Link) {
		c.text(&l.Path)
		list(c, &l.Targets, c.text)
	})
}

func (o *OutletTerms) parts(c *codec) {
	number(c, &o.Most)
	c.bool(&o.Names)
	c.text(&o.Roots)
	c.rest(&o.CA)
}

func (o *OutletFacts) parts(c *codec) {
	if !c.reading {
		o.Fault, o.NoNames = o.Fault[:min(len(o.Fault), maxRefusal)], o.NoNames[:min(len(o.NoNames), maxRefusal)]
	}
	number(c, &o.Port)
	c.text(&o.CAFile)
	c.text(&o.Bundle)
	c.text(&o.Fault)
	c.text(&o.NoNames)
}

func (d *Digests) parts(c *codec) { list(c, (*[]string)(d), c.text) }

func (n *Number) parts(c *codec) { number(c, n) }
