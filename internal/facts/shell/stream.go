package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// isElsewhere says that a stream comes from a file whose content is not known here.
func (s stream) isElsewhere() bool { return s.path != "" && !s.found && !wild(s.path) }

// besides is a stream that may be either of two.
func (s stream) besides(o stream) stream {
	if !s.present {
		return o
	}
	both := stream{present: true, known: s.known && o.known, file: o.file, found: s.found && o.found, settled: s.settled && o.settled,
		Taint: s.Taint.With(o.Taint)}
	if len(s.text)+len(o.text) > maxValue {
		both.known = false
	}
	if both.known {
		both.text = s.text + "\n" + o.text
	}
	return both
}

// named is a stream of names.
func named(t value.Taint, items []word) stream {
	return stream{present: true, items: items, Taint: t}
}

// stream is what flows through a pipe, into a file, or out of a substitution.
// The zero value is a standard input that nothing feeds.
type stream struct {
	present bool
	text    string
	known   bool
	// items are patterns for the names in it, where its text is not known.
	items []word
	// path is the file it comes from, if that is known.
	path string
	// file is that path as it is spelt, see [overlay.fileAt].
	file string
	// found says that it is what was found in that file, settled that the session has not made
	// the file what it is.
	found, settled bool
	// over says that it was longer than what is followed.
	over bool
	// orNothing says that it is empty where its command fails.
	orNothing bool
	value.Taint
}

// word is what a stream holds, as one word.
func (s stream) word() word { return word{text: s.text, known: s.known, Taint: s.Taint} }

func literal(text string) stream { return stream{present: true, text: text, known: true} }

func unknown(t value.Taint) stream { return stream{present: true, Taint: t} }

// then is what two commands write one after the other.
func (s stream) then(o stream) stream {
	if !s.present {
		return o
	}
	if !o.present {
		return s
	}
	joined := stream{present: true, over: s.over || o.over, Taint: s.Taint.With(o.Taint)}
	switch both := s.known && o.known; {
	case both && len(s.text)+len(o.text) <= maxValue:
		joined.text, joined.known = s.text+o.text, true
	case both:
		joined.over = true
	case s.items != nil || o.items != nil:
		joined.items = append(s.names(), o.names()...)
	}
	return joined
}

// or is what two commands write of which the second runs where the first fails. Two names of one program, such as "python3"
// and "python", are as good as one.
func (s stream) or(o stream) stream {
	if !s.orNothing || !s.known || !o.known {
		return s.then(o)
	}
	x, y := strings.TrimSpace(s.text), strings.TrimSpace(o.text)
	if programs.Family(x) == programs.Family(y) || programs.Interpreter(x) != "" && programs.Interpreter(x) == programs.Interpreter(y) {
		s.Taint, s.orNothing = s.Taint.With(o.Taint), o.orNothing
		return s
	}
	return stream{present: true, items: oneOf(append(s.names(), o.names()...)), Taint: s.Taint.With(o.Taint)}
}

// names are the patterns for the names in a stream, and the words of one that is known.
func (s stream) names() []word {
	if !s.known {
		return slices.Clip(s.items)
	}
	var out []word
	for _, text := range strings.Fields(strings.ReplaceAll(s.text, "\x00", " ")) {
		if len(out) >= maxFields {
			break
		}
		out = append(out, word{text: text, Taint: s.Taint})
	}
	return out
}
