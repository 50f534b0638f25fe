// Package redact replaces the values of variables in a stream of bytes by
// "[NAME redacted]".
//
// A value is recognised as it is, in base64 (all three alignments, standard and
// URL alphabets, with and without padding), in hexadecimal (both cases),
// URL-encoded (by the habits of the usual encoders, or every byte, both cases) and escaped for
// JSON (in the usual ways, or every character). Line breaks within any of these make no difference, one
// at a place. Values under 8 bytes are left alone: they would hide ordinary output.
//
// Promised: every byte that belongs to an occurrence of a recognised form is
// gone, also where occurrences overlap (one marker then stands for all of them,
// naming the longest); where the output was split into chunks makes no
// difference; a chunk is handed on at once but for the bytes that may be the
// beginning of an occurrence; time is linear in the output whatever it holds.
//
// This is a guard against accidents. A command can print a value
// in another form ("rev", a space between the letters, base64 twice), and this
// package will not know it.
package redact

import (
	"bytes"
	"iter"
	"maps"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

// shortest is the length from which a value is redacted.
const shortest = 8

// Redactor redacts one stream by [Redactor.Write] and [Redactor.Flush], which
// are not for concurrent use, and whole texts by [Redactor.Redact], which is.
type Redactor struct {
	forms  *automaton
	stream stream
}

// New returns a Redactor of values by the names of their variables.
func New(values map[string]bailiff.Secret) *Redactor { return newRedactor(maps.All(values)) }

func newRedactor(values iter.Seq2[string, bailiff.Secret]) *Redactor {
	forms := newAutomaton()
	for name, value := range values {
		if len(value.Reveal()) >= shortest {
			forms.addAll(encodings(value.Reveal()), marker(name))
		}
	}
	forms.link()
	return &Redactor{forms: forms}
}

// Write takes the next bytes and returns what can be told of the stream so far.
// The result is valid until the next call.
func (r *Redactor) Write(chunk []byte) []byte { return r.stream.write(r.forms, chunk) }

// Flush ends the stream and returns what was held back.
func (r *Redactor) Flush() []byte { return r.stream.flush(r.forms) }

// Held is how many of the bytes written are not told yet.
func (r *Redactor) Held() int { return len(r.stream.held) }

// Redact returns a whole text redacted; it may be text itself if nothing was found.
func (r *Redactor) Redact(text []byte) []byte {
	begin := r.forms.candidate(text)
	if bytes.ContainsAny(text, "\r\n") && r.forms.candidate(joined(text)) >= 0 {
		begin = 0
	}
	if begin < 0 {
		return text
	}
	var s stream
	out := append([]byte(nil), text[:begin]...)
	out = append(out, s.write(r.forms, text[begin:])...)
	return append(out, s.flush(r.forms)...)
}

// joined is a text without line breaks.
func joined(text []byte) []byte {
	all := make([]byte, 0, len(text))
	for _, c := range text {
		if c != '\n' && c != '\r' {
			all = append(all, c)
		}
	}
	return all
}

// Slack is the length of the longest form of any value, with a line break after each byte: a caller
// that cuts the stream must redact this much beyond the cut first.
func (r *Redactor) Slack() int { return r.forms.longest * (1 + mostBreaks) }

// marker is what stands in place of a variable's value; names that are none are
// spelt so that the marker breaks neither JSON nor a terminal.
func marker(name string) string {
	plain := func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.ContainsRune("_.-", c):
			return c
		}
		return '_'
	}
	return "[" + strings.Map(plain, name) + " redacted]"
}
