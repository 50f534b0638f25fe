package word

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Stream is what flows through a pipe, into a file, or out of a substitution.
// The zero value is a standard input that nothing feeds.
type Stream struct {
	Present bool
	Text    string
	Known   bool
	// Items are patterns for the names in it, where its text is not known.
	Items []Word
	// Path is the file it comes from, if that is known.
	Path string
	// File is that path as it is spelt, see overlay.FS.
	File string
	// OnDisk says that it is what was found in that file, Settled that the session has not made
	// the file what it is.
	OnDisk, Settled bool
	// Truncated says that it was longer than what is followed.
	Truncated bool
	// OrNothing says that it is empty where its command fails.
	OrNothing bool
	value.Taint
}

// Literal is a stream that the text tells.
func Literal(text string) Stream { return Stream{Present: true, Text: text, Known: true} }

// Unknown is a stream of which the text tells no more than where it is from.
func Unknown(t value.Taint) Stream { return Stream{Present: true, Taint: t} }

// Listing is a stream of names.
func Listing(t value.Taint, items []Word) Stream {
	return Stream{Present: true, Items: items, Taint: t}
}

// IsElsewhere says that a stream comes from a file whose content is not known here.
func (s Stream) IsElsewhere() bool { return s.Path != "" && !s.OnDisk && !HasWildcard(s.Path) }

// Either is a stream that may be either of two.
func (s Stream) Either(o Stream) Stream {
	if !s.Present {
		return o
	}
	both := Stream{Present: true, Known: s.Known && o.Known, File: o.File, OnDisk: s.OnDisk && o.OnDisk, Settled: s.Settled && o.Settled,
		Taint: s.Taint.With(o.Taint)}
	if len(s.Text)+len(o.Text) > MaxValue {
		both.Known = false
	}
	if both.Known {
		both.Text = s.Text + "\n" + o.Text
	}
	return both
}

// Word is what a stream holds, as one word.
func (s Stream) Word() Word { return Word{Text: s.Text, Known: s.Known, Taint: s.Taint} }

// Then is what two commands write one after the other.
func (s Stream) Then(o Stream) Stream {
	if !s.Present {
		return o
	}
	if !o.Present {
		return s
	}
	joined := Stream{Present: true, Truncated: s.Truncated || o.Truncated, Taint: s.Taint.With(o.Taint)}
	switch both := s.Known && o.Known; {
	case both && len(s.Text)+len(o.Text) <= MaxValue:
		joined.Text, joined.Known = s.Text+o.Text, true
	case both:
		joined.Truncated = true
	case s.Items != nil || o.Items != nil:
		joined.Items = append(s.Names(), o.Names()...)
	}
	return joined
}

// Or is what two commands write of which the second runs where the first fails. Two names of one program, such as "python3"
// and "python", are as good as one.
func (s Stream) Or(o Stream) Stream {
	if !s.OrNothing || !s.Known || !o.Known {
		return s.Then(o)
	}
	x, y := strings.TrimSpace(s.Text), strings.TrimSpace(o.Text)
	if programs.Family(x) == programs.Family(y) || programs.Interpreter(x) != "" && programs.Interpreter(x) == programs.Interpreter(y) {
		s.Taint, s.OrNothing = s.Taint.With(o.Taint), o.OrNothing
		return s
	}
	return Stream{Present: true, Items: OneOf(append(s.Names(), o.Names()...)), Taint: s.Taint.With(o.Taint)}
}

// Names are the patterns for the names in a stream, and the words of one that is known.
func (s Stream) Names() []Word {
	if !s.Known {
		return slices.Clip(s.Items)
	}
	var out []Word
	for _, text := range strings.Fields(strings.ReplaceAll(s.Text, "\x00", " ")) {
		if len(out) >= MaxFields {
			break
		}
		out = append(out, Word{Text: text, Taint: s.Taint})
	}
	return out
}
